import t from 'tap'
import type { AccountId, KeyId } from '../../../schemas/primitives.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { linksRoot } from '../../../src/audit/seals/merkle.ts'
import { emptyLogTree, withLink } from '../../../src/domain/seals/log-tree.ts'
import { EMPTY_TREE, withLeaves } from '../../../src/domain/seals/stream-tree.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { linkOf } from '../../../src/services/seals/proof-parts.ts'
import { Proofs } from '../../../src/services/seals/proofs.ts'
import { NodeMissing, type TreeStore } from '../../../src/services/seals/tree-store.ts'
import { collect } from '../../support/collect.ts'
import { logOf } from '../../support/log-of.ts'
import { vectorAccount, vectorLog } from '../../support/proof-vectors.ts'

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
  await t.rejects(proofsOf(lost).event(caller, id), { name: 'Damaged', message: /is not as the newest seal covers it/ })
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
