import { sha256 } from '../digest.ts'
import { type LogTree, rootOf } from './log-tree.ts'

/**
 * The tree over all streams: a binary prefix tree whose keys are SHA-256 of the streams' names. A branch stands where
 * keys part, so a tree over n streams has n leaves and n − 1 branches, and paths are short. Nodes are stored by their
 * hash, so a stored node proves itself, earlier trees stay readable, and several processes may write at once. See
 * `docs/ledger-format.md`, "Seals".
 */

/** A stream as a seal covers it. */
export interface StreamLeaf {
  stream: string
  /** The link of the stream's last event. */
  head: string
  /** The tree over the links of all events of the stream. Its size is one more than the last revision. */
  links: LogTree
}

interface Leaf extends StreamLeaf {
  kind: 'leaf'
}

interface Branch {
  kind: 'branch'
  /** The first bit in which the keys below differ, from 0. */
  bit: number
  /** The first `bit` bits that all keys below share, followed by zeros; in hex, like the hashes. */
  prefix: string
  left: string
  right: string
}

export type TreeNode = Leaf | Branch

/** Nodes of a tree by hash: at least those on the paths of the streams that are asked for. */
export type Nodes = ReadonlyMap<string, TreeNode>

/** Nodes to store, by hash, and the hashes of those that the new tree no longer needs. */
export interface TreeChange {
  root: string
  added: Map<string, TreeNode>
  replaced: string[]
}

/** The root of a tree without streams. */
export const EMPTY_TREE = sha256('')

export const keyOf = (stream: string): string => sha256(stream)

/** The canonical JSON of a leaf, which its hash covers. */
const leafText = ({ stream, head, links }: StreamLeaf): string =>
  `{"head":"${head}","links":"${rootOf(links)}","revision":${links.size - 1},"stream":${JSON.stringify(stream)}}`

export const hashOfNode = (node: TreeNode): string => {
  if (node.kind === 'leaf') return sha256(`\0${leafText(node)}`)
  const bit = node.bit.toString(16).padStart(2, '0')
  return sha256(Buffer.from(`01${bit}${node.prefix}${node.left}${node.right}`, 'hex'))
}

/** The children of a node that lie on the paths of the given keys, each with its keys. */
export const towards = (node: TreeNode, keys: string[]): { hash: string; keys: string[] }[] => {
  if (node.kind === 'leaf') return []
  const { bit, prefix, left, right } = node
  const inside = keys.filter(key => firstDifference(key, prefix) >= bit)
  return [
    { hash: left, keys: inside.filter(key => bitOf(key, bit) === 0) },
    { hash: right, keys: inside.filter(key => bitOf(key, bit) === 1) },
  ].filter(({ keys }) => keys.length > 0)
}

/** The leaf of a stream; undefined if the tree does not have it. */
export const leafOf = (root: string, stream: string, nodes: Nodes): StreamLeaf | undefined => {
  const leaf = pathTo(root, keyOf(stream), nodes).at(-1)
  return leaf?.kind === 'leaf' && leaf.stream === stream ? leaf : undefined
}

/** The tree with these leaves, of which there is at least one, each instead of the earlier leaf of its stream. */
export const withLeaves = (root: string, leaves: StreamLeaf[], nodes: Nodes): TreeChange => {
  const items = leaves.map(leaf => ({ key: keyOf(leaf.stream), leaf: { ...leaf, kind: 'leaf' } as Leaf })).sort(byKey)
  const builder = new TreeBuilder(nodes)
  const grown = root === EMPTY_TREE ? builder.build(items) : builder.insert(root, items)
  return { root: grown, added: builder.added, replaced: builder.replaced.filter(hash => !builder.added.has(hash)) }
}

/** The path of a stream that the tree has: at each branch its bit and the other child, from the leaf up. */
export const streamPath = (root: string, stream: string, nodes: Nodes): { bit: number; sibling: string }[] => {
  const key = keyOf(stream)
  return pathTo(root, key, nodes)
    .filter(node => node.kind === 'branch')
    .map(({ bit, left, right }) => ({ bit, sibling: bitOf(key, bit) === 0 ? right : left }))
    .toReversed()
}

interface Item {
  key: string
  leaf: Leaf
}

/** Builds the changed part of a tree. Items are sorted by key, and there is at least one. */
class TreeBuilder {
  readonly added = new Map<string, TreeNode>()
  readonly replaced: string[] = []
  readonly #nodes: Nodes

  constructor(nodes: Nodes) {
    this.#nodes = nodes
  }

  /** Builds a tree of these items alone. */
  build(items: Item[]): string {
    const [first, last] = [items[0] as Item, items.at(-1) as Item]
    if (first.key === last.key) return this.#add(last.leaf)
    const bit = firstDifference(first.key, last.key)
    const [left, right] = split(items, bit)
    return this.#addBranch(bit, first.key, this.build(left), this.build(right))
  }

  /** Inserts these items into a subtree. */
  insert(root: string, items: Item[]): string {
    if (items.length === 0) return root
    const node = this.#nodes.get(root) as TreeNode
    if (node.kind === 'leaf') {
      const own = { key: keyOf(node.stream), leaf: node }
      this.replaced.push(root)
      return this.build(items.some(({ key }) => key === own.key) ? items : [...items, own].sort(byKey))
    }
    const prefix = node.prefix
    const bit = Math.min(node.bit, ...items.map(({ key }) => firstDifference(key, prefix)))
    const [left, right] = split(items, bit)
    if (bit === node.bit) {
      this.replaced.push(root)
      return this.#addBranch(bit, prefix, this.insert(node.left, left), this.insert(node.right, right))
    }
    // Some items part from this subtree above its root.
    return bitOf(prefix, bit) === 0
      ? this.#addBranch(bit, prefix, this.insert(root, left), this.build(right))
      : this.#addBranch(bit, prefix, this.build(left), this.insert(root, right))
  }

  #addBranch(bit: number, key: string, left: string, right: string): string {
    return this.#add({ kind: 'branch', bit, prefix: prefixOf(key, bit), left, right })
  }

  #add(node: TreeNode): string {
    const hash = hashOfNode(node)
    this.added.set(hash, node)
    return hash
  }
}

const byKey = (one: Item, other: Item) => (one.key < other.key ? -1 : 1)

/** The loaded nodes from the root towards a key, as far as they go. */
const pathTo = (root: string, key: string, nodes: Nodes): TreeNode[] => {
  const path: TreeNode[] = []
  for (let node = nodes.get(root); node; ) {
    path.push(node)
    if (node.kind === 'leaf') break
    node = nodes.get(bitOf(key, node.bit) === 0 ? node.left : node.right)
  }
  return path
}

const split = (items: Item[], bit: number): [Item[], Item[]] => [
  items.filter(({ key }) => bitOf(key, bit) === 0),
  items.filter(({ key }) => bitOf(key, bit) === 1),
]

// Keys and prefixes are 256 bits in hex, so each digit holds four of them.
const digitAt = (key: string, index: number): number => Number.parseInt(key.charAt(index), 16)

const bitOf = (key: string, bit: number): number => (digitAt(key, bit >> 2) >> (3 - (bit & 3))) & 1

/** The first bit in which two keys differ; 256 if they are equal. */
const firstDifference = (one: string, other: string): number => {
  let index = 0
  while (index < 64 && one.charCodeAt(index) === other.charCodeAt(index)) index++
  return index === 64 ? 256 : index * 4 + Math.clz32(digitAt(one, index) ^ digitAt(other, index)) - 28
}

/** The first bits of a key, followed by zeros. */
const prefixOf = (key: string, bits: number): string => {
  const whole = bits >> 2
  const digit = digitAt(key, whole) & (0xf0 >> (bits & 3)) & 0xf
  return (key.slice(0, whole) + digit.toString(16)).padEnd(64, '0')
}
