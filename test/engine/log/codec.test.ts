import t from 'tap'
import { EventMetadata, events } from '../../../schemas/events.ts'
import type { RawEvent, Upcast } from '../../../schemas/recorded.ts'
import { createCodec } from '../../../src/engine/log/codec.ts'
import { Damaged, NewerLog } from '../../../src/ports/faults.ts'
import { eventCodec } from '../../../src/services/event-codec.ts'
import { accepted, digest, granted, keyId, opened } from '../../support/account-samples.ts'
import { family, published } from '../../support/catalog-samples.ts'

const metadata = { at: '2026-01-01T00:00:00.000Z', actor: { kind: 'key', keyId: keyId() }, hash: digest('a') }
const grant = granted(100)

const raw = (event: { type: string; data: unknown }, changes: Partial<RawEvent> = {}): RawEvent => ({
  ...{ id: crypto.randomUUID(), stream: 'account-x', revision: 3, position: 7, metadata },
  ...event,
  ...changes,
})

/** Checks a new event for the stream that its type belongs to. */
const checkNew = (event: { type: string; data: unknown; metadata: unknown }) =>
  eventCodec.checkNew({ stream: event.type.startsWith('Family') ? 'catalog' : 'account-x', ...event })

t.test('written events can be read back', async t => {
  for (const event of [
    opened(),
    grant,
    ...accepted({ key: 'a', after: 90, metadata: { a: [1] } }),
    published(family()),
  ]) {
    t.doesNotThrow(() => checkNew({ ...event, metadata }), event.type)
    const recorded = raw(event, event.type.startsWith('Family') ? { stream: 'catalog' } : {})
    t.same(eventCodec.decode(recorded), recorded)
  }
})

const faulty: Record<string, object> = {
  'a field is missing': { data: { amountMicros: 1, reason: 'a gift' } },
  'a field is unknown': { data: { ...grant.data, extra: true } },
  'an amount is zero': { data: { ...grant.data, amountMicros: 0 } },
  'an amount is negative': { data: { ...grant.data, amountMicros: -1 } },
  'an amount has a fraction': { data: { ...grant.data, amountMicros: 0.5 } },
  'an amount is not a safe integer': { data: { ...grant.data, amountMicros: 2 ** 53 } },
  'an amount is a string': { data: { ...grant.data, amountMicros: '1' } },
  'a balance is negative': { data: { ...grant.data, balanceAfterMicros: -1 } },
  'there is no data': { data: null },
  'there is no metadata': { metadata: undefined },
  'the time is invalid': { metadata: { ...metadata, at: '2026-01-01' } },
  'the actor is unknown': { metadata: { ...metadata, actor: { kind: 'somebody' } } },
  'the hash is invalid': { metadata: { ...metadata, hash: 'abc' } },
  'the metadata has an unknown field': { metadata: { ...metadata, secret: 'x' } },
}

t.test('an event of a newer version is told from damage', async t => {
  const newer: object[] = []
  const codec = createCodec({ events, metadata: EventMetadata, upcasts: [], onNewer: error => newer.push(error) })
  const cases: [RawEvent, RegExp][] = [
    [
      raw(grant, { metadata: { ...metadata, format: 5 } }),
      /ledger format 5, and this version knows none above 4; start/,
    ],
    [raw({ type: 'CreditsLent', data: {} }), /hold no events of this type; start the newer version that wrote it, or/],
    [raw({ ...grant, data: { ...grant.data, extra: true } }), /additional properties; start the newer version/],
  ]
  for (const [event, message] of cases) t.throws(() => codec.decode(event), { message })
  t.equal(newer.length, cases.length)
  for (const error of newer) t.ok(error instanceof NewerLog)
  t.throws(() => codec.decode(raw({ ...grant, data: null })), { message: /; restore it from a backup$/ })
  t.equal(newer.length, cases.length)
})

t.test('an event that violates its schema is not written, and is damage when read', async t => {
  for (const [fault, change] of Object.entries(faulty)) {
    const event = { ...grant, metadata, ...change }
    t.throws(() => checkNew(event), { name: 'TypeError', message: /^CreditsGranted cannot be recorded: / }, fault)
    t.throws(() => eventCodec.decode(raw(event, { metadata: event.metadata })), Damaged, fault)
  }
})

t.test('the error names the stream, place and field, and says what to do', async t => {
  const event = { ...raw({ type: 'CreditsGranted', data: { ...grant.data, amountMicros: 0 } }), position: 9 }
  const place = 'account-x holds an unreadable CreditsGranted at revision 3 (position 9)'
  const message = `${place}: data/amountMicros must be >= 1; restore it from a backup`
  t.throws(() => eventCodec.decode(event), { message })
})

t.test('an event of an unknown type is not written, and is damage when read', async t => {
  for (const type of [
    'CreditsStolen',
    'creditsgranted',
    '',
    'constructor',
    'toString',
    'hasOwnProperty',
    '__proto__',
  ]) {
    t.throws(
      () => checkNew({ type, data: {}, metadata }),
      { name: 'TypeError', message: /streams of this category hold no events of this type/ },
      type,
    )
    t.throws(
      () => eventCodec.decode(raw({ type, data: {} })),
      { name: 'Damaged', message: /streams of this category hold no events of this type/ },
      type,
    )
  }
})

t.test('malformed ids and keys are refused', async t => {
  const queue = (change: object) => ({ ...accepted({ after: 90 })[1], metadata, type: 'RunQueued', data: change })
  const data = accepted({ after: 90 })[1]?.data as object
  t.doesNotThrow(() => checkNew(queue({ ...data, input: { 'a\nb': '\u{1f642}', ['__proto__']: 1 } })))
  for (const runId of ['run_1', `RUN_${'0'.repeat(26)}`, `run_8${'0'.repeat(25)}`, `key_${'0'.repeat(26)}`])
    t.throws(() => checkNew(queue({ ...data, runId })), /runId/, runId)
  for (const key of ['', 'a b', 'é', 'x'.repeat(256)])
    t.throws(() => checkNew(queue({ ...data, idempotency: { key, requestHash: digest('a') } })), /idempotency/, key)
})

t.test('old shapes are upcast step by step', async t => {
  // The oldest grants are in whole credits; newer ones are in microcredits, still without a reason.
  const inMicros: Upcast = ({ type, data }) => {
    const { credits, balance } = data as { credits?: number; balance: number }
    if (type !== 'CreditsGiven' || credits === undefined) return undefined
    return { type, data: { amountMicros: credits * 1e6, balanceAfterMicros: balance * 1e6 } }
  }
  const renamed: Upcast = ({ type, data }) =>
    type === 'CreditsGiven'
      ? { type: 'CreditsGranted', data: { kind: 'courtesy', reference: 'gift', reason: 'a gift', ...(data as object) } }
      : undefined

  const upcasting = (upcasts: Upcast[]) => createCodec({ events, metadata: EventMetadata, upcasts })
  const steps = [inMicros, renamed]
  const oldest = raw({ type: 'CreditsGiven', data: { credits: 100, balance: 100 } })
  const newer = raw({ type: 'CreditsGiven', data: { amountMicros: 100_000_000, balanceAfterMicros: 100_000_000 } })
  const present = raw(grant)
  for (const old of [oldest, newer, present]) {
    const { id, stream, revision, position } = old
    t.same(upcasting(steps).decode(old), { id, stream, revision, position, metadata, ...grant })
  }
  t.throws(
    () => eventCodec.decode(oldest),
    { message: /streams of this category hold no events of this type/ },
    'it cannot be read without upcasts',
  )
  t.throws(() => upcasting([renamed]).decode(oldest), Damaged, 'the upcast event is validated')
})

t.test('an event in a stream of another category is damage', async t => {
  const misplaced: [string, string][] = [
    ['catalog', 'CreditsGranted'],
    ['login-x', 'CreditsGranted'],
    ['account-x', 'FamilyWithdrawn'],
    ['account', 'toString'],
  ]
  for (const [stream, type] of misplaced) {
    t.throws(() => eventCodec.decode(raw({ type, data: grant.data }, { stream })), Damaged, `${type} in ${stream}`)
    t.throws(() => eventCodec.checkNew({ stream, type, data: grant.data, metadata }), TypeError, `${type} in ${stream}`)
  }
})
