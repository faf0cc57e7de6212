import { createHash } from 'node:crypto'

// Shares no code with the trees that make seals, so that a mistake would have to be made twice to go unnoticed. Sizes
// of trees stay below 2^31. See `docs/ledger-format.md`, "Seals".

/** A stream as a seal covers it: the link of its last event, and the root over the links of all its events. */
export interface SealedStream {
  stream: string
  revision: number
  head: string
  links: string
}

/** One step of a path through the tree over all streams: the bit of its branch, and the other child's hash. */
export interface StreamStep {
  bit: number
  sibling: string
}

/** The root of the tree over links in lowercase hex, by the definition of RFC 9162, section 2.1.1. */
export const linksRoot = (links: readonly string[]): string => toHex(subtreeRoot(links.map(toBytes)))

/** The root of the tree over all streams. */
export const streamsRoot = (streams: readonly SealedStream[]): string => {
  const leaves = streams.map(stream => ({ bits: bitsOf(stream.stream), hash: streamHash(stream) }))
  return toHex(prefixRoot(leaves, 0))
}

/** Whether a path leads from the link at an index to the root over `size` links (RFC 9162, section 2.1.3.2). */
export const isIncluded = (
  link: string,
  index: number,
  size: number,
  path: readonly string[],
  root: string,
): boolean => {
  if (index >= size) return false
  let [at, last] = [index, size - 1]
  let hash = sha256(LEAF, toBytes(link))
  for (const step of path) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      hash = sha256(NODE, toBytes(step), hash)
      while (at % 2 === 0 && at !== 0) [at, last] = [at >> 1, last >> 1]
    } else hash = sha256(NODE, hash, toBytes(step))
    ;[at, last] = [at >> 1, last >> 1]
  }
  return last === 0 && toHex(hash) === root
}

/** Whether a path shows that a tree extends an earlier one, which is not empty (RFC 9162, section 2.1.4.2). */
export const isExtension = (
  earlier: { size: number; root: string },
  later: { size: number; root: string },
  path: readonly string[],
): boolean => {
  if (earlier.size < 1 || earlier.size > later.size) return false
  if (earlier.size === later.size) return path.length === 0 && earlier.root === later.root
  let [at, last] = [earlier.size - 1, later.size - 1]
  while (at % 2 === 1) [at, last] = [at >> 1, last >> 1]
  // A tree whose size is a power of two is itself a node of the later one, so that the path need not name it.
  const [first, ...steps] = at === 0 ? [earlier.root, ...path] : path
  if (first === undefined) return false
  let [earlierHash, laterHash] = [toBytes(first), toBytes(first)]
  for (const step of steps.map(toBytes)) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      earlierHash = sha256(NODE, step, earlierHash)
      laterHash = sha256(NODE, step, laterHash)
      while (at % 2 === 0 && at !== 0) [at, last] = [at >> 1, last >> 1]
    } else laterHash = sha256(NODE, laterHash, step)
    ;[at, last] = [at >> 1, last >> 1]
  }
  return last === 0 && toHex(earlierHash) === earlier.root && toHex(laterHash) === later.root
}

/** Whether a path leads from a stream to the root of the tree over all streams. A tree has one leaf for each name. */
export const isSealed = (stream: SealedStream, path: readonly StreamStep[], root: string): boolean => {
  const bits = bitsOf(stream.stream)
  let hash = streamHash(stream)
  let above = bits.length
  for (const { bit, sibling } of path) {
    if (!Number.isInteger(bit) || bit < 0 || bit >= above) return false
    above = bit
    const children: [Buffer, Buffer] = bits[bit] === '0' ? [hash, toBytes(sibling)] : [toBytes(sibling), hash]
    hash = branchHash(bits, bit, ...children)
  }
  return toHex(hash) === root
}

const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])

const toBytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
const toHex = (bytes: Buffer): string => bytes.toString('hex')

const sha256 = (...parts: Buffer[]): Buffer => {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}

const subtreeRoot = (links: Buffer[]): Buffer => {
  const [link] = links
  if (!link) return sha256()
  if (links.length === 1) return sha256(LEAF, link)
  const split = 2 ** Math.floor(Math.log2(links.length - 1))
  return sha256(NODE, subtreeRoot(links.slice(0, split)), subtreeRoot(links.slice(split)))
}

interface KeyedHash {
  bits: string
  hash: Buffer
}

const prefixRoot = (leaves: KeyedHash[], bit: number): Buffer => {
  const [first] = leaves
  if (!first) return sha256()
  if (leaves.length === 1) return first.hash
  const [zeros, ones] = ['0', '1'].map(digit => leaves.filter(({ bits }) => bits[bit] === digit)) as [
    KeyedHash[],
    KeyedHash[],
  ]
  if (zeros.length === 0 || ones.length === 0) return prefixRoot(leaves, bit + 1)
  return branchHash(first.bits, bit, prefixRoot(zeros, bit + 1), prefixRoot(ones, bit + 1))
}

const branchHash = (bits: string, bit: number, left: Buffer, right: Buffer): Buffer => {
  const prefix = bits.slice(0, bit).padEnd(256, '0')
  const prefixBytes = Buffer.from(prefix.match(/.{8}/g)?.map(octet => Number.parseInt(octet, 2)) ?? [])
  return sha256(NODE, Buffer.from([bit]), prefixBytes, left, right)
}

const streamHash = ({ stream, revision, head, links }: SealedStream): Buffer =>
  sha256(LEAF, Buffer.from(JSON.stringify({ head, links, revision, stream })))

/** The bits of a stream's key, SHA-256 of its name, as text. */
const bitsOf = (stream: string): string =>
  [...sha256(Buffer.from(stream))].map(octet => octet.toString(2).padStart(8, '0')).join('')
