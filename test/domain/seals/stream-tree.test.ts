import fc from 'fast-check'
import t from 'tap'
import { isSealed, type SealedStream, streamsRoot } from '../../../src/audit/seals/merkle.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import { emptyLogTree, rootOf, withLink } from '../../../src/domain/seals/log-tree.ts'
import {
  EMPTY_TREE,
  hashOfNode,
  keyOf,
  leafOf,
  type StreamLeaf,
  streamPath,
  type TreeNode,
  towards,
  withLeaves,
} from '../../../src/domain/seals/stream-tree.ts'

/** Stores a changed tree, without the nodes that it does not need. */
const grow = (stored: Map<string, TreeNode>, root: string, leaves: StreamLeaf[]): string => {
  const change = withLeaves(root, leaves, stored)
  for (const [hash, node] of change.added) stored.set(hash, node)
  for (const hash of change.replaced) stored.delete(hash)
  return change.root
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

t.test('a tree that grows round by round has the root of all its leaves, and keeps only its own nodes', async () => {
  fc.assert(
    fc.property(rounds, changes => {
      const stored = new Map<string, TreeNode>()
      const leaves = new Map<string, StreamLeaf>()
      let root = EMPTY_TREE
      for (const round of changes) {
        const changed = new Map(round.map(({ stream, size }) => [`s-${stream}`, sampleLeaf(`s-${stream}`, size)]))
        for (const [stream, leaf] of changed) leaves.set(stream, leaf)
        root = grow(stored, root, [...changed.values()])
        if (root !== streamsRoot([...leaves.values()].map(sealedOf))) return false
        if (stored.size !== 2 * leaves.size - 1) return false
      }
      const streams = [...leaves.keys(), 'absent']
      return streams.every(stream => leafOf(root, stream, stored)?.head === leaves.get(stream)?.head)
    }),
  )
})

t.test('nodes are stored by their hash', async t => {
  const stored = new Map<string, TreeNode>()
  const leaves = ['a', 'b', 'c'].map(stream => sampleLeaf(stream, 2))
  grow(stored, EMPTY_TREE, leaves)
  for (const [hash, node] of stored) t.equal(hashOfNode(node), hash)
})

t.test('a path proves each stream, and nothing else', async t => {
  const stored = new Map<string, TreeNode>()
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

t.test('a change needs the nodes on the paths of the changed leaves, and no others', async t => {
  const stored = new Map<string, TreeNode>()
  const leaves = Array.from({ length: 1000 }, (_, index) => sampleLeaf(`account-${index}`, 1))
  const root = grow(stored, EMPTY_TREE, leaves)
  const changed = [sampleLeaf('account-7', 2), sampleLeaf('account-new', 1)]
  const needed = new Map<string, TreeNode>()
  let level = [{ hash: root, keys: changed.map(({ stream }) => keyOf(stream)) }]
  while (level.length > 0)
    level = level.flatMap(({ hash, keys }) => {
      const node = stored.get(hash) as TreeNode
      needed.set(hash, node)
      return towards(node, keys)
    })
  t.ok(needed.size < 60, `${needed.size} nodes are needed`)
  const all = new Map([...leaves, ...changed].map(leaf => [leaf.stream, sealedOf(leaf)]))
  t.equal(withLeaves(root, changed, needed).root, streamsRoot([...all.values()]))
})
