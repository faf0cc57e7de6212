import t from 'tap'
import type { AccountId, KeyId } from '../../../schemas/primitives.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { proveConsistency } from '../../../src/audit/proofs/inclusion.ts'
import { emptyLogTree, withLink } from '../../../src/domain/seals/log-tree.ts'
import { EMPTY_TREE, withLeaves } from '../../../src/domain/seals/stream-tree.ts'
import { BEFORE_FIRST, type EventLog } from '../../../src/ports/event-log.ts'
import { linkOf } from '../../../src/services/seals/proof-parts.ts'
import { Proofs } from '../../../src/services/seals/proofs.ts'
import { NodeMissing, type TreeStore } from '../../../src/services/seals/tree-store.ts'
import { collect } from '../../support/collect.ts'
import { doubled, faultyReads, type ReadFate, sound, withoutFirst } from '../../support/faulty-log.ts'
import { logOf } from '../../support/log-of.ts'
import { linksRoot } from '../../support/merkle.ts'
import { vectorAccount, vectorLog } from '../../support/proof-vectors.ts'
import { until } from '../../support/until.ts'

const caller = { kind: 'key', accountId: vectorAccount as AccountId, keyId: 'key_0' as KeyId, scope: 'read' } as const
const events = await collect((await vectorLog()).readAll(BEFORE_FIRST))
const stream = `account-${vectorAccount}`
const own = events.filter(event => event.stream === stream)

/** The tree that the newest seal of the vectors covers. */
const sealedTree = (): Pick<TreeStore, 'paths'> => {
  const names = [...new Set(events.map(event => event.stream))].filter(name => name !== 'seals')
  const leaves = names.map(name => {
    const links = events.filter(event => event.stream === name).map(linkOf)
    return { stream: name, head: links.at(-1) as string, links: links.reduce(withLink, emptyLogTree) }
  })
  return { paths: async () => withLeaves(EMPTY_TREE, leaves, new Map()).added }
}

const proofsOf = (log: RawEvent[], trees = sealedTree()) => new Proofs({ log: logOf(log), trees, clock: systemClock })
const { id } = own[3] as RawEvent

t.test('an event is proved from the stored tree', async t => {
  const links = linksRoot(own.map(linkOf))
  t.match(await proofsOf(events).event(caller, id), { value: { event: { revision: 3 }, leaf: { stream, links } } })
})

t.test('a tree that is not stored is made again later', async t => {
  const paths = () => Promise.reject(new NodeMissing('gone'))
  await t.rejects(proofsOf(events, { paths }).event(caller, id), { name: 'Unavailable', message: /is not stored/ })
})

t.test('a stream that is not as it was sealed is not proved', async t => {
  const lost = events.filter(event => event !== own.at(-1))
  await t.rejects(proofsOf(lost).event(caller, id), { name: 'Damaged', message: /does not match the newest seal/ })
})

t.test('a client that has left has nothing more read', async t => {
  const gone = { nextTurn: async () => undefined, signal: AbortSignal.abort() }
  const log = { ...logOf(events), readStream: (name: string, from: number) => reading(name, from) }
  const read: string[] = []
  const reading = (name: string, from: number) => {
    read.push(name)
    return logOf(events).readStream(name, from)
  }
  await new Proofs({ log, trees: sealedTree(), clock: systemClock }).event(caller, id, gone)
  t.same(read, ['seals'])
})

/** Proofs from a log whose first reads meet these fates: of the seals, and then of the account's events. */
const proofsWith = (...fates: ReadFate[]) =>
  new Proofs({ log: faultyReads(logOf(events) as EventLog, ...fates), trees: sealedTree(), clock: systemClock })

t.test('events that a read repeats count once', async t => {
  const [event, consistency] = [
    await proofsOf(events).event(caller, id),
    await proofsOf(events).consistency(caller, 1, 3),
  ]
  const repeatedSeals = proofsWith(doubled)
  t.same(await repeatedSeals.consistency(caller, 1, 3), consistency)
  t.same(await repeatedSeals.event(caller, id), event)
  t.same(await proofsWith(sound, doubled).event(caller, id), event, 'those of the account')
  const repeated = faultyReads(logOf(events) as EventLog, ...Array<ReadFate>(9).fill(doubled))
  t.same(await proveConsistency(repeated, { number: 1 }, { number: 3 }), (consistency as { value: unknown }).value)
})

t.test('a read that leaves out an event makes no proof, and the next one does', async t => {
  const leftOut = { name: 'Unavailable', message: /left out event 0 of/ }
  const seals = proofsWith(withoutFirst)
  await t.rejects(seals.consistency(caller, 1, 3), leftOut)
  t.same(await seals.consistency(caller, 1, 3), await proofsOf(events).consistency(caller, 1, 3))
  const account = proofsWith(sound, withoutFirst)
  await t.rejects(account.event(caller, id), leftOut)
  t.same(await account.event(caller, id), await proofsOf(events).event(caller, id))
})

t.test('four proofs are made at a time, the others in their order, also after a failure', async t => {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const paths = async (_: string, [stream = '']: readonly string[]) => {
    begun.push(stream.slice(-1))
    await new Promise<void>(resolve => ends.push(resolve))
    throw new NodeMissing('gone')
  }
  const proofs = proofsOf(events, { paths })
  const made = ['a', 'b', 'c', 'd', 'e', 'f'].map(name =>
    proofs.event({ ...caller, accountId: `acct_${name}` as AccountId }, id),
  )
  const settled = Promise.allSettled(made)
  for (const count of [4, 5, 6]) {
    await until('the proofs that may be made', () => begun.length === count)
    await new Promise(setImmediate)
    t.same(begun, ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, count))
    ends.shift()?.()
  }
  for (const end of ends) end()
  t.same(new Set((await settled).map(({ status }) => status)), new Set(['rejected']))
})

t.test('no proof is made from more than 100,000 events', async t => {
  const [first] = own as [RawEvent]
  const log = logOf(events)
  const longOf = (count: number) => ({
    ...log,
    async *readStream(name: string, from: number) {
      if (name !== stream) yield* log.readStream(name, from)
      else
        for (let next = 0; next < count; next += 1_000)
          yield Array.from({ length: Math.min(1_000, count - next) }, (_, at) => ({ ...first, revision: next + at }))
    },
  })
  const prove = (count: number) =>
    new Proofs({ log: longOf(count), trees: sealedTree(), clock: systemClock }).event(caller, 'none')
  t.match(await prove(100_001), { refuse: { code: 'too_many_events', limit: 100_000 } })
  t.match(await prove(100_000), { refuse: { code: 'event_not_found' } })
})
