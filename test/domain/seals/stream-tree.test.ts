import fc from 'fast-check'
import t from 'tap'
import { sha256 } from '../../../src/domain/digest.ts'
import { emptyLogTree, rootOf, withLink } from '../../../src/domain/seals/log-tree.ts'
import {
  EMPTY_TREE,
  keyOf,
  leafOf,
  type StreamLeaf,
  streamPath,
  withLeaves,
} from '../../../src/domain/seals/stream-tree.ts'
import {
  addressOf,
  type Below,
  type BranchPage,
  below,
  branchesOver,
  type TreePage,
  topsOf,
} from '../../../src/domain/seals/tree-page.ts'
import { isSealed, type SealedStream, streamsRoot } from '../../support/merkle.ts'
import { isLong } from '../../support/test-length.ts'

/** Stores a changed tree, without the pages that it does not need. */
const grow = (stored: Map<string, TreePage>, root: string, leaves: StreamLeaf[]): string => {
  const change = withLeaves(root, leaves, stored)
  for (const address of change.replaced) stored.delete(address)
  for (const [address, page] of change.added) stored.set(address, page)
  return change.root
}

/** The pages of a tree on the paths of some streams, each of which is checked. */
const pathsOf = (stored: Map<string, TreePage>, root: string, streams: string[]): Map<string, TreePage> => {
  const found = new Map<string, TreePage>()
  let level: Below[] = [{ place: '', hash: root, keys: streams.map(keyOf) }]
  while (level.length > 0)
    level = level.flatMap(({ place, hash, keys }) => {
      const page = stored.get(addressOf(place, hash)) as TreePage
      found.set(addressOf(place, hash), page)
      const next = below(place, hash, page, keys)
      if (!next) throw new Error(`the page at ${place} is not genuine`)
      return next
    })
  return found
}

const sampleLeaf = (stream: string, size: number): StreamLeaf => {
  const links = Array.from({ length: size }, (_, index) => sha256(`${stream} ${index}`))
  return { stream, head: links.at(-1) as string, links: links.reduce(withLink, emptyLogTree) }
}

const sealedOf = ({ stream, head, links }: StreamLeaf): SealedStream => ({
  stream,
  revision: links.size - 1,
  head,
  links: rootOf(links),
})

const rounds = fc.array(
  fc.array(fc.record({ stream: fc.integer({ max: 60, min: 0 }), size: fc.integer({ min: 1, max: 9 }) }), {
    minLength: 1,
    maxLength: 12,
  }),
  { minLength: 1, maxLength: 12 },
)

t.test('a tree that grows round by round has the root of all its leaves, and keeps only its own pages', async () => {
  fc.assert(
    fc.property(rounds, changes => {
      const stored = new Map<string, TreePage>()
      const leaves = new Map<string, StreamLeaf>()
      let root = EMPTY_TREE
      for (const round of changes) {
        const changed = new Map(round.map(({ stream, size }) => [`s-${stream}`, sampleLeaf(`s-${stream}`, size)]))
        for (const [stream, leaf] of changed) leaves.set(stream, leaf)
        root = grow(stored, root, [...changed.values()])
        if (root !== streamsRoot([...leaves.values()].map(sealedOf))) return false
        // The same leaves at once make the same pages.
        const atOnce = withLeaves(EMPTY_TREE, [...leaves.values()], new Map())
        if ([...stored.keys()].sort().join() !== [...atOnce.added.keys()].sort().join()) return false
      }
      const streams = [...leaves.keys(), 'absent']
      return streams.every(stream => leafOf(root, stream, stored)?.head === leaves.get(stream)?.head)
    }),
  )
})

t.test('a path proves each stream, and nothing else', async t => {
  const stored = new Map<string, TreePage>()
  const leaves = Array.from({ length: 40 }, (_, index) => sampleLeaf(`account-${index}`, 1 + (index % 5)))
  const root = grow(stored, EMPTY_TREE, leaves)
  for (const leaf of leaves) {
    const sealed = sealedOf(leaf)
    const path = streamPath(root, leaf.stream, stored)
    t.ok(isSealed(sealed, path, root))
    t.notOk(isSealed({ ...sealed, revision: sealed.revision + 1 }, path, root))
    t.notOk(isSealed({ ...sealed, head: sha256('another') }, path, root))
    t.notOk(isSealed({ ...sealed, links: sha256('another') }, path, root))
    t.notOk(isSealed({ ...sealed, stream: 'account-x' }, path, root))
    for (const [at, { bit, sibling }] of path.entries()) {
      t.notOk(isSealed(sealed, path.with(at, { bit, sibling: sha256(sibling) }), root))
      t.notOk(isSealed(sealed, path.with(at, { bit: bit + 1, sibling }), root))
      t.notOk(isSealed(sealed, path.toSpliced(at, 1), root))
    }
  }
})

t.test('a change needs the pages on the paths of the changed leaves, and no others', async t => {
  const stored = new Map<string, TreePage>()
  const leaves = Array.from({ length: 1000 }, (_, index) => sampleLeaf(`account-${index}`, 1))
  const root = grow(stored, EMPTY_TREE, leaves)
  const changed = [sampleLeaf('account-7', 2), sampleLeaf('account-new', 1)]
  const needed = pathsOf(stored, root, ['account-7', 'account-new'])
  t.ok(needed.size < 10, `${needed.size} pages are needed`)
  const all = new Map([...leaves, ...changed].map(leaf => [leaf.stream, sealedOf(leaf)]))
  t.equal(withLeaves(root, changed, needed).root, streamsRoot([...all.values()]))
  t.throws(() => withLeaves(root, changed, new Map()), /not loaded/)
})

t.test('a change of one page is noticed on every path that depends on it', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 80 }), fc.nat(), fc.nat(), (count, one, other) => {
      const stored = new Map<string, TreePage>()
      const leaves = Array.from({ length: count }, (_, index) => sampleLeaf(`account-${index}`, 1))
      const root = grow(stored, EMPTY_TREE, leaves)
      const branches = [...stored].filter((entry): entry is [string, BranchPage] => 'hashes' in entry[1])
      const [address, page] = branches[one % branches.length] as [string, BranchPage]
      const [from, to] = [other % 16, one % 16]
      const tops = topsOf(page)
      const forged = Buffer.from(tops)
      forged.fill(0, from * 32, from * 32 + 32)
      tops.copy(forged, to * 32, from * 32, from * 32 + 32)
      stored.set(address, branchesOver(address.slice(0, address.indexOf('.')), forged) as BranchPage)
      // Whatever a forged page shows of any stream, there or not, is as it was.
      return Array.from({ length: count + 40 }, (_, index) => `account-${index}`).every(stream => {
        let pages: Map<string, TreePage>
        try {
          pages = pathsOf(stored, root, [stream])
        } catch {
          return true
        }
        const grown = withLeaves(root, [sampleLeaf(stream, 3)], pages)
        const all = new Map(leaves.map(leaf => [leaf.stream, leaf])).set(stream, sampleLeaf(stream, 3))
        return grown.root === streamsRoot([...all.values()].map(sealedOf))
      })
    }),
    { numRuns: isLong ? 100 : 20 },
  )
})
