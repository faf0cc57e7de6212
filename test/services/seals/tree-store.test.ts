import t from 'tap'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import { emptyLogTree, withLink } from '../../../src/domain/seals/log-tree.ts'
import { EMPTY_TREE, leafOf } from '../../../src/domain/seals/stream-tree.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { grownTree } from '../../../src/services/seals/grown-tree.ts'
import { NodeMissing, TreeStore } from '../../../src/services/seals/tree-store.ts'

/** A store in memory that notes how many keys it is asked for between two turns of the event loop. */
const countingStore = () => {
  const texts = new Map<string, string>()
  let inTurn = 0
  let most = 0
  const count = (keys: unknown[]) => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    inTurn += keys.length
    most = Math.max(most, inTurn)
  }
  return {
    texts,
    most: () => most,
    loadNodes: async (keys: string[]) => {
      count(keys)
      return keys.map(key => texts.get(key))
    },
    saveNodes: async (changes: [string, string | undefined][]) => {
      count(changes)
      for (const [key, text] of changes)
        if (text === undefined) texts.delete(key)
        else texts.set(key, text)
    },
    clearNodes: async () => texts.clear(),
  }
}

const MANY = 5000

const leafAt = (index: number) => {
  const link = sha256(`link ${index}`)
  return { stream: `account-${index}`, head: link, links: withLink(emptyLogTree, link) }
}

t.test('other work goes on while the pages of many streams are stored and read', async t => {
  const views = countingStore()
  const leaves = Array.from({ length: MANY }, (_, index) => leafAt(index))
  const trees = new TreeStore({ views, clock: systemClock })
  const change = await grownTree(EMPTY_TREE, leaves, { pages: new Map(), clock: systemClock })
  await trees.save(EMPTY_TREE, change)
  const streams = leaves.map(({ stream }) => stream)
  const pages = await trees.paths(change.root, streams)
  t.equal(pages.size, change.added.size)
  t.ok(pages.size > 2 * 1000, `${pages.size} pages`)
  t.ok(streams.every((stream, index) => leafOf(change.root, stream, pages)?.head === leaves[index]?.head))
  t.ok(views.most() < 1000, `${views.most()} pages at most in one turn`)
})

t.test('of the pages that were stored last, only the root is read', async t => {
  const views = countingStore()
  const trees = new TreeStore({ views, clock: systemClock })
  const leaves = Array.from({ length: 50 }, (_, index) => leafAt(index))
  const change = await grownTree(EMPTY_TREE, leaves, { pages: new Map(), clock: systemClock })
  await trees.save(EMPTY_TREE, change)
  const all = new Map(views.texts)
  const root = `.${change.root}`
  for (const key of all.keys()) if (key !== root) views.texts.delete(key)
  const streams = leaves.map(({ stream }) => stream)
  t.equal((await trees.paths(change.root, streams)).size, change.added.size)
  await t.rejects(new TreeStore({ views, clock: systemClock }).paths(change.root, streams), NodeMissing)
  views.texts.delete(root)
  await t.rejects(trees.paths(change.root, streams), NodeMissing)
})

t.test('leaves are inserted in parts, between which other work goes on', async t => {
  let turns = 0
  const clock: Clock = {
    ...{ nowMs: systemClock.nowMs, monotonicMs: systemClock.monotonicMs },
    timer: (delayMs, run) => {
      turns += 1
      return systemClock.timer(delayMs, run)
    },
  }
  const leaves = Array.from({ length: MANY }, (_, index) => leafAt(index))
  await grownTree(EMPTY_TREE, leaves, { pages: new Map(), clock })
  t.ok(turns >= MANY / 100, `${turns} turns`)
})
