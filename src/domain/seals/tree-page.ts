import { sha256Latin1 } from '../digest.ts'
import { digitAt, hashOfLeaves, type KeyedLeaf, type Step, stepsAmong } from './prefix-tree.ts'

/**
 * A part of the tree over all streams that is stored as one: four levels of branches, or few leaves with all branches
 * over them. Its place is the digits in hex that all keys below it begin with. Parts at neighbouring places change
 * together, so they are stored side by side.
 */
export type TreePage = LeafPage | BranchPage

/** By ascending key. */
export interface LeafPage {
  leaves: readonly KeyedLeaf[]
}

/**
 * The hashes of 31 nodes, each in its 32 bytes: 1 is the top, 2i and 2i + 1 are below i, and 16 to 31 are the tops of
 * the pages for each next digit. A node without keys is all zeros. A node with keys on one side only has no branch, so
 * its hash is the hash of that side.
 */
export interface BranchPage {
  hashes: Buffer
}

const HASH_BYTES = 32
const PAGE_BYTES = 32 * HASH_BYTES
const FIRST_SLOT = 16
const TOPS_START = FIRST_SLOT * HASH_BYTES
const NONE = '\0'.repeat(HASH_BYTES)

/** A page below another, and the keys whose paths lead there. */
export interface Below {
  place: string
  hash: string
  keys: string[]
}

export const emptyBranches = (): BranchPage => ({ hashes: Buffer.alloc(PAGE_BYTES) })

/** The tops of the pages for all digits, from which the rest of a page follows. */
export const topsOf = ({ hashes }: BranchPage): Buffer => hashes.subarray(TOPS_START)

/** The page with these tops; undefined if they are not as many bytes as the tops of a page. */
export const branchesOver = (place: string, tops: Buffer): BranchPage | undefined => {
  if (tops.length !== PAGE_BYTES - TOPS_START) return undefined
  const { hashes } = emptyBranches()
  tops.copy(hashes, TOPS_START)
  for (const node of DOWN_UP) hashes.write(joined(place, hashes, node), node * HASH_BYTES, 'latin1')
  return { hashes }
}

export const addressOf = (place: string, hash: string): string => `${place}.${hash}`

/** The top of the page for a digit; empty if there is none. */
export const topOf = ({ hashes }: BranchPage, digit: number): string => hexAt(hashes, FIRST_SLOT + digit)

/** The page with other tops below some digits, and the hash of its own top. */
export const withTops = (place: string, page: BranchPage, tops: ReadonlyMap<number, string>) => {
  const hashes = Buffer.from(page.hashes)
  let changed = 0
  for (const [digit, top] of tops) {
    hashes.write(top, (FIRST_SLOT + digit) * HASH_BYTES, 'hex')
    changed |= above(FIRST_SLOT + digit)
  }
  for (const node of nodesIn(changed)) hashes.write(joined(place, hashes, node), node * HASH_BYTES, 'latin1')
  return { page: { hashes }, hash: hexAt(hashes, 1) }
}

/**
 * The pages that the paths of some keys lead to; undefined if the page does not match its hash. Where no key begins
 * with the next digit of a path, the page leads to the nearest branch or page, which proves the absence.
 */
export const below = (place: string, top: string, page: TreePage, keys: string[]): Below[] | undefined => {
  if ('leaves' in page) return isOf(place, top, page) ? [] : undefined
  const { hashes } = page
  if (hexAt(hashes, 1) !== top) return undefined
  const found = new Map<number, string[]>()
  for (const [digit, own] of groupedBy(keys, key => digitAt(key, place.length))) {
    const node = nearest(hashes, FIRST_SLOT + digit)
    if (node >= FIRST_SLOT) found.set(node, own.concat(found.get(node) ?? []))
  }
  return [...found].map(([slot, keys]) => ({
    place: place + (slot - FIRST_SLOT).toString(16),
    hash: hexAt(hashes, slot),
    keys,
  }))
}

/** The branches of a page on the path of a key, from the top down. */
export const stepsIn = (place: string, page: TreePage, key: string): Step[] => {
  if ('leaves' in page) return stepsAmong(page.leaves, key)
  const { hashes } = page
  const slot = FIRST_SLOT + digitAt(key, place.length)
  return [3, 2, 1, 0].flatMap(height => {
    const other = (slot >> height) ^ 1
    return isEmpty(hashes, other) ? [] : [{ bit: bitOf(place, other >> 1), sibling: hexAt(hashes, other) }]
  })
}

/** The items, grouped by a common value. */
export const groupedBy = <Item>(items: readonly Item[], of: (item: Item) => number): Map<number, Item[]> => {
  const groups = new Map<number, Item[]>()
  for (const item of items) {
    const group = groups.get(of(item))
    if (group) group.push(item)
    else groups.set(of(item), [item])
  }
  return groups
}

const isOf = (place: string, top: string, { leaves }: LeafPage): boolean =>
  leaves.length > 0 && leaves.every(({ key }) => key.startsWith(place)) && hashOfLeaves(leaves) === top

/** The node itself or, if there is none, the topmost branch or page near it. */
const nearest = (hashes: Buffer, from: number): number => {
  let node = from
  while (node > 1 && isEmpty(hashes, node)) node >>= 1
  while (node < FIRST_SLOT) {
    const [left, right] = [2 * node, 2 * node + 1]
    if (isEmpty(hashes, left) === isEmpty(hashes, right)) break
    node = isEmpty(hashes, left) ? right : left
  }
  return node
}

/** A set of the nodes above a node, as bits. */
const above = (node: number): number => (node <= 1 ? 0 : (1 << (node >> 1)) | above(node >> 1))

/** The nodes of such a set, lower nodes first. */
const nodesIn = (bits: number): number[] => DOWN_UP.filter(node => bits & (1 << node))

const DOWN_UP = Array.from({ length: FIRST_SLOT - 1 }, (_, index) => FIRST_SLOT - 1 - index)

/** The hash of a node, made from the hashes of the two nodes below it. */
const joined = (place: string, hashes: Buffer, node: number): string => {
  const [left, right] = [2 * node, 2 * node + 1]
  if (isEmpty(hashes, right)) return textAt(hashes, left)
  if (isEmpty(hashes, left)) return textAt(hashes, right)
  // The byte 01, the bit, the prefix, and both hashes.
  const digits = place + digitOf(node).toString(16)
  BRANCH[0] = 1
  BRANCH[1] = bitOf(place, node)
  BRANCH.fill(0, 2, 2 + HASH_BYTES)
  BRANCH.write(digits.length % 2 === 0 ? digits : `${digits}0`, 2, 'hex')
  hashes.copy(BRANCH, 2 + HASH_BYTES, left * HASH_BYTES, (right + 1) * HASH_BYTES)
  return sha256Latin1(BRANCH)
}

/** Holds one branch while it is hashed. Thousands are in a moment, and memory for each would take longer than that. */
const BRANCH = Buffer.alloc(2 + 3 * HASH_BYTES)

const levelOf = (node: number): number => 31 - Math.clz32(node)

/** The bit in which the keys below a branch differ. */
const bitOf = (place: string, node: number): number => 4 * place.length + levelOf(node)

/** The bits of the next digit that all keys below a branch share, followed by zeros. */
const digitOf = (node: number): number => (node << (4 - levelOf(node))) & 0xf

const textAt = (hashes: Buffer, node: number): string =>
  hashes.toString('latin1', node * HASH_BYTES, (node + 1) * HASH_BYTES)

const hexAt = (hashes: Buffer, node: number): string =>
  isEmpty(hashes, node) ? '' : hashes.toString('hex', node * HASH_BYTES, (node + 1) * HASH_BYTES)

const isEmpty = (hashes: Buffer, node: number): boolean =>
  hashes[node * HASH_BYTES] === 0 && textAt(hashes, node) === NONE
