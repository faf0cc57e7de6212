import { sha256 } from '../digest.ts'
import { type LogTree, rootOf } from './log-tree.ts'

// The hashes of the tree over all streams: a binary prefix tree whose keys are SHA-256 of the streams' names. The tree
// has a branch only where keys differ, so a tree over n streams has n leaves and n − 1 branches, and paths are short.
// See `docs/ledger-format.md`, "Seals".

/** A stream as a seal covers it. */
export interface StreamLeaf {
  stream: string
  /** The link of the stream's last event. */
  head: string
  /** The tree over the links of all events of the stream. Its size is one more than the last revision. */
  links: LogTree
}

/** A leaf with its place in the tree and its hash. */
export interface KeyedLeaf extends StreamLeaf {
  key: string
  hash: string
}

/** A branch on the path of a key: its bit, and the hash of the child on the other side. */
export interface Step {
  bit: number
  sibling: string
}

export const keyOf = (stream: string): string => sha256(stream)

export const keyed = (leaf: StreamLeaf): KeyedLeaf => ({
  ...leaf,
  key: keyOf(leaf.stream),
  hash: sha256(`\0${leafText(leaf)}`),
})

/** The canonical JSON of a leaf, which its hash covers. */
const leafText = ({ stream, head, links }: StreamLeaf): string =>
  `{"head":"${head}","links":"${rootOf(links)}","revision":${links.size - 1},"stream":${JSON.stringify(stream)}}`

/** The hash of a tree over leaves by ascending key, of which there is at least one. */
export const hashOfLeaves = (leaves: readonly KeyedLeaf[]): string => {
  const parts = divided(leaves)
  if (!parts) return (leaves[0] as KeyedLeaf).hash
  const { bit, prefix, left, right } = parts
  const text = `01${bit.toString(16).padStart(2, '0')}${prefix}${hashOfLeaves(left)}${hashOfLeaves(right)}`
  return sha256(Buffer.from(text, 'hex'))
}

/** The path of a key in a tree over leaves by ascending key, from the root down. */
export const stepsAmong = (leaves: readonly KeyedLeaf[], key: string): Step[] => {
  const parts = divided(leaves)
  if (!parts) return []
  const { bit, left, right } = parts
  const [own, other] = bitOf(key, bit) === 0 ? [left, right] : [right, left]
  return [{ bit, sibling: hashOfLeaves(other) }, ...stepsAmong(own, key)]
}

/** The topmost branch over leaves by ascending key, and the leaves on its two sides; undefined for a single leaf. */
const divided = (leaves: readonly KeyedLeaf[]) => {
  const [first, last] = [leaves[0] as KeyedLeaf, leaves.at(-1) as KeyedLeaf]
  if (leaves.length === 1) return undefined
  const bit = firstDifference(first.key, last.key)
  const left = leaves.filter(({ key }) => bitOf(key, bit) === 0)
  return { bit, prefix: prefixOf(first.key, bit), left, right: leaves.slice(left.length) }
}

/** Four bits of a key. Keys and prefixes are 256 bits in hex. */
export const digitAt = (key: string, index: number): number => Number.parseInt(key.charAt(index), 16)

const bitOf = (key: string, bit: number): number => (digitAt(key, bit >> 2) >> (3 - (bit & 3))) & 1

/** The first bit in which two different keys differ. */
const firstDifference = (one: string, other: string): number => {
  let index = 0
  while (one.charCodeAt(index) === other.charCodeAt(index)) index++
  return index * 4 + Math.clz32(digitAt(one, index) ^ digitAt(other, index)) - 28
}

/** The first bits of a key, followed by zeros. */
const prefixOf = (key: string, bits: number): string => {
  const whole = bits >> 2
  const digit = digitAt(key, whole) & (0xf0 >> (bits & 3)) & 0xf
  return (key.slice(0, whole) + digit.toString(16)).padEnd(64, '0')
}
