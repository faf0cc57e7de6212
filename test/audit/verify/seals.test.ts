import t from 'tap'
import { accountIn, SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import type { KeptSeal } from '../../../src/audit/kept-seals.ts'
import { Seals } from '../../../src/audit/verify/seals.ts'
import { parseSealKey } from '../../../src/services/seals/seal-key.ts'
import { sealName } from '../../../src/services/seals/seals.ts'
import { busyLog, sealedWithKey } from '../../support/busy-log.ts'
import { makeLink } from '../../support/links.ts'
import { linksRoot } from '../../support/merkle.ts'
import { newSealKeyPem } from '../../support/seal-key-pem.ts'
import { verified } from '../../support/verified.ts'

const events = await busyLog(t, sealedWithKey)

const verify = (log: RawEvent[], ...kept: KeptSeal[]) => verified(log, { isDense: true, kept })

const faultsOf = async (log: RawEvent[], ...kept: KeptSeal[]) =>
  (await verify(log, ...kept)).faults.map(({ what }) => what)

const linkOf = ({ metadata }: RawEvent) => (metadata as { hash: string }).hash
const sealData = ({ data }: RawEvent) => data as LogSealed
const isSeal = ({ type }: RawEvent) => type === 'LogSealed'
const seals = events.filter(isSeal)
const keep = (seal: RawEvent | undefined): KeptSeal => ({
  number: seal?.revision ?? -1,
  name: seal ? sealName(sealData(seal)) : '',
})

/** The log as somebody who can write it would make it look whole: dense positions, revisions without gaps, new links. */
const rewritten = (log: RawEvent[]): RawEvent[] => {
  const heads = new Map<string, { revision: number; hash: string }>()
  return log.map((event, position) => {
    const head = heads.get(event.stream)
    const moved = { ...event, position, revision: (head?.revision ?? -1) + 1 }
    const { link: hash } = makeLink(head?.hash, moved)
    heads.set(event.stream, { revision: moved.revision, hash })
    return { ...moved, metadata: { ...(event.metadata as object), hash } }
  })
}

/** The first account that a seal covers, and its last event that the last seal covers. */
const last = sealData(seals.at(-1) as RawEvent)
const covered = events.filter(({ stream }) => stream !== SEALS_STREAM).slice(0, last.events)
const victim = covered.find(({ stream }) => accountIn(stream))?.stream as string

t.test('the seals of a clean log have no fault, and the newest is named', async t => {
  t.ok(seals.length >= 3)
  const { faults, notes, seal, unsealed } = await verify(events)
  t.same(faults, [])
  t.same(notes, [])
  t.match(seal, { ...keep(seals.at(-1)), events: last.events })
  t.equal(unsealed, events.filter(({ stream }) => stream !== SEALS_STREAM).length - last.events)
})

t.test(
  'a removed stream, a cut stream and a changed one break the seals, even where nothing else shows it',
  async t => {
    const tail = covered.findLast(({ stream }) => stream === victim) as RawEvent
    const harmless = covered.find(({ type }) => type === 'ApiKeyCreated') as RawEvent
    const renamed = { ...harmless, data: { ...(harmless.data as object), name: 'another' } }
    const logins = covered.filter(({ type }) => type === 'LoginLinked')
    for (const [name, log] of [
      ['a removed stream', events.filter(({ stream }) => stream !== (logins.at(-1) as RawEvent).stream)],
      ['a cut stream', events.filter(({ stream, revision }) => stream !== victim || revision < tail.revision)],
      ['a stream with other links', events.map(event => (event === harmless ? renamed : event))],
      ['two events in another order', swapped(events, harmless)],
    ] as const) {
      const found = await faultsOf(rewritten(log))
      t.ok(
        found.some(what =>
          /^(the first \d+ events of the log differ from the events that it covers|it covers \d+ (streams|events))/.test(
            what,
          ),
        ),
        `${name}: ${found.join('; ')}`,
      )
    }
  },
)

t.test('a log that was cut after a seal is noticed only by a later seal that was kept', async t => {
  const early = seals.at(-2) as RawEvent
  const cut = events.filter(({ position }) => position <= early.position)
  t.notOk((await faultsOf(cut)).some(what => what.includes('seal')))
  t.match(await faultsOf(cut, keep(seals.at(-1))), [
    /^the log does not hold seal \d+:sha256-\w+, which was kept: if that name is genuine, the log was cut or rewritten/,
  ])
  t.same(await faultsOf(events, keep(seals.at(-1))), [])
  t.same(await faultsOf(events, keep(seals[0])), [])
})

t.test('a log that was sealed anew with its own key is noticed only by a seal that was kept', async t => {
  const key = parseSealKey(newSealKeyPem(), { isDevelopment: false })
  const links: string[] = []
  const resealed = events.map(event => {
    if (event.stream !== SEALS_STREAM) return event
    const { signature: _, ...seal } = sealData(event)
    const place = { previous: links.at(-1) as string, earlier: linksRoot(links), keyId: key.keyId }
    const unsigned = isSeal(event) ? { ...seal, ...place } : { key: key.publicKey, keyId: key.keyId }
    const again = { ...event, data: { ...unsigned, signature: key.sign(unsigned) } }
    const hash = makeLink(links.at(-1), again).link
    links.push(hash)
    return { ...again, metadata: { ...(event.metadata as object), hash } }
  })
  t.same(await faultsOf(resealed), [])
  t.match(await faultsOf(resealed, keep(seals[0])), [
    /^it is not seal 1:sha256-\w+, which was kept: if that name is genuine, the log was cut or rewritten since$/,
  ])
  const old = { number: 1, name: `1:${linkOf(seals[0] as RawEvent)}` }
  const { faults, notes, isInDoubt } = await verify(resealed, old)
  t.same(faults, [], 'an old name may be forged')
  t.match(notes, [{ revision: 1, what: `its link is not that of seal ${old.name}, which was kept` }])
  t.equal(isInDoubt, true)
  t.match(await verify(events, old), { faults: [], notes: [], isInDoubt: false })
  t.match(await faultsOf(resealed, old, keep(seals[0])), [/^it is not seal 1:sha256-/], 'and excuses nothing')
})

t.test('a kept seal of another number is missed, and under an old name it may be forged', async t => {
  for (const [number, what] of [
    [9999, 'the log does not hold'],
    [0, 'it is not'],
  ] as const) {
    const [old, name] = ['', 'sha256-'].map(prefix => ({ number, name: `${number}:${prefix}${'a'.repeat(64)}` }))
    t.match(await faultsOf(events, name as KeptSeal), [`${what} seal ${name?.name}, which was kept: if that name is`])
    const { faults, notes, isInDoubt } = await verify(events, old as KeptSeal)
    t.same(faults, [], 'an old name accuses nobody')
    t.match(notes, [{ what: `${what} seal ${old?.name}, which was kept; no signature covers such an old name` }])
    t.equal(isInDoubt, true)
  }
})

t.test('a whole seal accuses the operator if a key of the log has signed it, and no other does', async t => {
  const [seal] = seals as [RawEvent]
  const kept = (isAdopted: boolean) => {
    const signer = { keyId: sealData(seal).keyId, place: 'seals.jsonl, line 7', isAdopted }
    return { number: 1, name: `1:sha256-${'b'.repeat(64)}`, signer }
  }
  t.match(await faultsOf(events, kept(true)), [/^it is not seal 1:sha256-b+, which was kept, so that the log was/])
  const { faults, notes, isInDoubt } = await verify(events, kept(false))
  t.same(faults, [])
  t.match(notes, [
    { revision: 1, what: /; seals.jsonl, line 7 says that the key \S+ has signed it, which this log did/ },
  ])
  t.equal(isInDoubt, true)
})

t.test('a forged, removed, swapped or foreign seal is named', async t => {
  const [first, second] = [seals[0] as RawEvent, seals[1] as RawEvent]
  const changed = (event: RawEvent, change: object) =>
    events.map(each => (each === event ? { ...each, data: { ...(each.data as object), ...change } } : each))
  const key = parseSealKey(newSealKeyPem(), { isDevelopment: false })
  const foreign = { key: key.publicKey, keyId: key.keyId }
  const adoption = events.find(({ type }) => type === 'SealKeyAdopted') as RawEvent
  const intruder = { ...adoption, id: crypto.randomUUID(), data: { ...foreign, signature: key.sign(foreign) } }
  for (const [log, what] of [
    [changed(second, { root: 'a'.repeat(64) }), /signature is wrong/],
    [changed(second, { events: sealData(second).events - 1 }), /signature is wrong/],
    [changed(second, { streams: 1 }), /covers 1 streams/],
    [changed(second, { keyId: key.keyId }), /was not adopted/],
    [events.filter(event => event !== first), /its number is 2, and its revision 1/],
    [events.map(each => (each === first ? second : each === second ? first : each)), /its number is/],
    [events.flatMap(each => (each === second ? [intruder, each] : [each])), /the key is not signed with the key/],
    [changed(adoption, { keyId: key.keyId }), /the id of the key is not its thumbprint/],
    [changed(second, { events: sealData(first).events }), /and the seal before it/],
    [changed(second, { events: 1_000_000 }), /covers 1000000 events, and the log holds \d+ before it/],
  ] as const)
    t.ok(
      (await faultsOf(rewritten(log))).some(fault => what.test(fault)),
      String(what),
    )
})

t.test('a log may have more seals than a call can have arguments', async t => {
  t.equal(new Seals(Array<number>(500_000).fill(1)).events, 0)
})

t.test('a key that the service made itself is noted', async t => {
  const developed = await busyLog(t, { SEAL_EVENTS: '40' })
  const { faults, notes } = await verify(developed)
  t.same(faults, [])
  t.match(notes, [{ stream: SEALS_STREAM, revision: 0, what: /^the service generated the seal key beside the log/ }])
})

/** The log with an event and the next one of its stream swapped. */
function swapped(log: RawEvent[], event: RawEvent): RawEvent[] {
  const next = log.find(
    ({ stream, revision }) => stream === event.stream && revision === event.revision + 1,
  ) as RawEvent
  return log.map(each => (each === event ? next : each === next ? event : each))
}
