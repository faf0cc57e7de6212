import { hash } from 'node:crypto'

// Shares no code with the trees from which seals are made. See `docs/ledger-format.md`, "Seals".

/** A node of the tree. Its hash is unknown after a change below it. */
interface Node {
  /** The key of a stream, or of any stream below a branch. */
  key: Buffer
  hash: Buffer | undefined
  parent: Branch | undefined
}

interface Branch extends Node {
  bit: number
  children: [Branch | Stream, Branch | Stream]
}

interface Stream extends Node {
  name: string
  links: Links
  head: string
}

/** The tree over all streams, which grows with each event. */
export class SealedStreams {
  readonly #streams = new Map<string, Stream>()
  #root: Branch | Stream | undefined

  /** The number of streams. */
  get size(): number {
    return this.#streams.size
  }

  /** Takes the link of the next event of a stream. */
  take(name: string, link: string) {
    const stream = this.#streams.get(name) ?? this.#add(name)
    stream.links.add(link)
    stream.head = link
    forget(stream)
  }

  /** The root in lowercase hex. */
  root(): string {
    return (this.#root ? hashOf(this.#root) : sha256()).toString('hex')
  }

  #add(name: string): Stream {
    const key = sha256(Buffer.from(name))
    const stream: Stream = { name, key, links: new Links(), head: '', hash: undefined, parent: undefined }
    this.#streams.set(name, stream)
    if (this.#root) this.#place(stream, this.#root)
    else this.#root = stream
    return stream
  }

  /** Inserts a new stream where its key differs from others. */
  #place(stream: Stream, root: Branch | Stream) {
    const { key } = stream
    let below = root
    while ('children' in below) below = below.children[bitOf(key, below.bit)]
    const bit = firstDifference(below.key, key)
    for (below = root; 'children' in below && below.bit < bit; ) below = below.children[bitOf(key, below.bit)]
    const { parent } = below
    const children: Branch['children'] = bitOf(key, bit) === 0 ? [stream, below] : [below, stream]
    const branch: Branch = { bit, key, children, hash: undefined, parent }
    stream.parent = branch
    below.parent = branch
    if (parent) parent.children[bitOf(key, parent.bit)] = branch
    else this.#root = branch
    if (parent) forget(parent)
  }
}

/** The tree over the links of a stream (RFC 9162, section 2.1.1). Stores only its complete subtrees. */
export class Links {
  #size: number
  /** The roots of complete trees, the largest first. */
  readonly #complete: { size: number; root: Bytes }[]

  /** The empty tree, or a tree of `size` links with known complete subtrees. */
  constructor(size = 0, roots: readonly string[] = []) {
    this.#size = size
    const sizes = [...size.toString(2)].flatMap((digit, at, { length }) =>
      digit === '1' ? [2 ** (length - 1 - at)] : [],
    )
    if (sizes.length !== roots.length)
      throw new RangeError(`a tree of ${size} links has ${sizes.length} complete parts`)
    this.#complete = roots.map((root, index) => ({ size: sizes[index] as number, root: toBytes(root) }))
  }

  get size(): number {
    return this.#size
  }

  add(link: string) {
    let part = { size: 1, root: leafHash(link) }
    for (let last = this.#complete.at(-1); last?.size === part.size; last = this.#complete.at(-1)) {
      part = { size: 2 * part.size, root: nodeHash(last.root, part.root) }
      this.#complete.pop()
    }
    this.#complete.push(part)
    this.#size += 1
  }

  /** The root in lowercase hex. */
  root(): string {
    if (this.#size === 0) return sha256().toString('hex')
    const root = this.#complete.map(part => part.root).reduceRight((right, left) => nodeHash(left, right))
    return Buffer.from(root, 'latin1').toString('hex')
  }
}

const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])

/** A hash with one character per byte: Node.js makes such texts three times as fast as buffers. */
type Bytes = string

const toBytes = (hex: string): Bytes => Buffer.from(hex, 'hex').toString('latin1')

// These buffers are used for every event of a log.
const leafBytes = Buffer.alloc(33)
const nodeBytes = Buffer.concat([NODE, Buffer.alloc(64)])

const leafHash = (link: string): Bytes => {
  // A damaged link may have any length.
  if (leafBytes.write(link, 1, 'hex') !== 32 || link.length !== 64)
    return hash('sha256', Buffer.concat([LEAF, Buffer.from(link, 'hex')]), 'binary')
  return hash('sha256', leafBytes, 'binary')
}

const nodeHash = (left: Bytes, right: Bytes): Bytes => {
  nodeBytes.write(left, 1, 'latin1')
  nodeBytes.write(right, 33, 'latin1')
  return hash('sha256', nodeBytes, 'binary')
}

const sha256 = (...parts: Buffer[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer')

/** Marks the hashes from a changed node up to the root as unknown. Above an unknown hash, all are already unknown. */
const forget = (changed: Node) => {
  for (let node: Node | undefined = changed; node && node.hash !== undefined; node = node.parent) node.hash = undefined
}

const hashOf = (node: Branch | Stream): Buffer => {
  node.hash ??= 'children' in node ? hashOfBranch(node) : hashOfStream(node)
  return node.hash
}

const hashOfStream = ({ name, links, head }: Stream): Buffer => {
  const text = JSON.stringify({ head, links: links.root(), revision: links.size - 1, stream: name })
  return sha256(LEAF, Buffer.from(text))
}

const hashOfBranch = ({ bit, key, children: [left, right] }: Branch): Buffer => {
  const prefix = Buffer.alloc(32)
  key.copy(prefix, 0, 0, Math.ceil(bit / 8))
  if (bit % 8 > 0) prefix[bit >> 3] = (prefix[bit >> 3] as number) & (0xff00 >> (bit % 8))
  return sha256(NODE, Buffer.from([bit]), prefix, hashOf(left), hashOf(right))
}

const bitOf = (key: Buffer, bit: number): 0 | 1 => (((key[bit >> 3] as number) >> (7 - (bit % 8))) & 1) as 0 | 1

/** The first bit in which two keys differ. */
const firstDifference = (one: Buffer, other: Buffer): number => {
  let bit = 0
  while (bit < 256 && bitOf(one, bit) === bitOf(other, bit)) bit++
  return bit
}
