import t from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { checkNew, decode, type Upcast } from '../../../src/engine/log/codec.ts'
import { Damaged } from '../../../src/ports/faults.ts'
import { accepted, digest, granted, keyId, opened } from '../../support/account-samples.ts'
import { family, published } from '../../support/catalog-samples.ts'

const metadata = { at: '2026-01-01T00:00:00.000Z', actor: { kind: 'key', keyId: keyId() }, hash: digest('a') }
const grant = granted(100)

const raw = (event: { type: string; data: unknown }, changes: Partial<RawEvent> = {}): RawEvent => ({
  ...{ id: crypto.randomUUID(), stream: 'account-x', revision: 3, position: 7, metadata },
  ...event,
  ...changes,
})

t.test('events as they are written can be read', async t => {
  for (const event of [
    opened(),
    grant,
    ...accepted({ key: 'a', after: 90, metadata: { a: [1] } }),
    published(family()),
  ]) {
    t.doesNotThrow(() => checkNew({ ...event, metadata }), event.type)
    const recorded = raw(event)
    t.same(decode(recorded), recorded)
  }
})

const faulty: Record<string, object> = {
  'a field is missing': { data: { amountMicros: 1, reason: 'a gift' } },
  'a field is not known': { data: { ...grant.data, extra: true } },
  'an amount is nothing': { data: { ...grant.data, amountMicros: 0 } },
  'an amount is negative': { data: { ...grant.data, amountMicros: -1 } },
  'an amount has a fraction': { data: { ...grant.data, amountMicros: 0.5 } },
  'an amount is past what is counted exactly': { data: { ...grant.data, amountMicros: 2 ** 53 } },
  'an amount is text': { data: { ...grant.data, amountMicros: '1' } },
  'a balance is negative': { data: { ...grant.data, balanceAfterMicros: -1 } },
  'there is no data': { data: null },
  'there is no metadata': { metadata: undefined },
  'the time is no time': { metadata: { ...metadata, at: '2026-01-01' } },
  'the actor is nobody': { metadata: { ...metadata, actor: { kind: 'somebody' } } },
  'the hash is none': { metadata: { ...metadata, hash: 'abc' } },
  'the metadata holds more': { metadata: { ...metadata, secret: 'x' } },
}

t.test('an event that its schema does not allow enters no log, and is damage in one', async t => {
  for (const [fault, change] of Object.entries(faulty)) {
    const event = { ...grant, metadata, ...change }
    t.throws(() => checkNew(event), { name: 'TypeError', message: /^CreditsGranted may not be recorded: / }, fault)
    t.throws(() => decode(raw(event, { metadata: event.metadata })), Damaged, fault)
  }
})

t.test('the message says where', async t => {
  const event = raw({ type: 'CreditsGranted', data: { ...grant.data, amountMicros: 0 } })
  const message = 'account-x holds an unreadable CreditsGranted at revision 3: data/amountMicros must be >= 1'
  t.throws(() => decode(event), { message })
})

t.test('an unknown type enters no log, and is damage in one', async t => {
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
      { name: 'TypeError', message: /the type is not known/ },
      type,
    )
    t.throws(() => decode(raw({ type, data: {} })), { name: 'Damaged', message: /the type is not known/ }, type)
  }
})

t.test('ids and keys must have their shape', async t => {
  const queue = (change: object) => ({ ...accepted({ after: 90 })[1], metadata, type: 'RunQueued', data: change })
  const data = accepted({ after: 90 })[1]?.data as object
  t.doesNotThrow(() => checkNew(queue({ ...data, input: { 'a\nb': '\u{1f642}', ['__proto__']: 1 } })))
  for (const runId of ['run_1', `RUN_${'0'.repeat(26)}`, `run_8${'0'.repeat(25)}`, `key_${'0'.repeat(26)}`])
    t.throws(() => checkNew(queue({ ...data, runId })), /runId/, runId)
  for (const key of ['', 'a b', 'é', 'x'.repeat(256)])
    t.throws(() => checkNew(queue({ ...data, idempotency: { key, requestHash: digest('a') } })), /idempotency/, key)
})

t.test('old shapes become the present one, step by step', async t => {
  // First a grant was in whole credits and had no reason; then it was called CreditsGiven.
  const inMicros: Upcast = ({ type, data }) => {
    const { credits, balance } = data as { credits?: number; balance: number }
    if (type !== 'CreditsGiven' || credits === undefined) return undefined
    return { type, data: { amountMicros: credits * 1e6, balanceAfterMicros: balance * 1e6 } }
  }
  const renamed: Upcast = ({ type, data }) =>
    type === 'CreditsGiven' ? { type: 'CreditsGranted', data: { reason: 'a gift', ...(data as object) } } : undefined

  const steps = [inMicros, renamed]
  const oldest = raw({ type: 'CreditsGiven', data: { credits: 100, balance: 100 } })
  const newer = raw({ type: 'CreditsGiven', data: { amountMicros: 100_000_000, balanceAfterMicros: 100_000_000 } })
  const present = raw(grant)
  for (const old of [oldest, newer, present]) {
    const { id, stream, revision, position } = old
    t.same(decode(old, steps), { id, stream, revision, position, metadata, ...grant })
  }
  t.throws(() => decode(oldest), { message: /the type is not known/ }, 'without the steps it cannot be read')
  t.throws(() => decode(oldest, [renamed]), Damaged, 'what a step makes is checked')
})
