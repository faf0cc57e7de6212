import { sha256 } from '../digest.ts'
import { digitAt, hashOfLeaves, type KeyedLeaf, keyed, keyOf, type Step, type StreamLeaf } from './prefix-tree.ts'
import {
  addressOf,
  type BranchPage,
  emptyBranches,
  groupedBy,
  stepsIn,
  type TreePage,
  topOf,
  withTops,
} from './tree-page.ts'

export { keyOf, type StreamLeaf } from './prefix-tree.ts'

/**
 * The tree over all streams, in pages. Each is stored by its place and its hash, so a stored page proves itself,
 * earlier trees stay readable, and several processes may write at once. Which pages a tree has follows from its
 * leaves alone.
 */

/** Pages of a tree by address: at least the pages on the paths of the requested streams. */
export type Pages = ReadonlyMap<string, TreePage>

/** Pages to store, by address, and the addresses of pages that the new tree no longer needs. */
export interface TreeChange {
  root: string
  added: Map<string, TreePage>
  replaced: string[]
}

/** The root of a tree without streams. */
export const EMPTY_TREE = sha256('')

/** The most leaves in a page. This many fit into half a page of a database, unless their names are long. */
const MAX_LEAVES = 4

/** The leaf of a stream; undefined if the tree does not have it. */
export const leafOf = (root: string, stream: string, pages: Pages): StreamLeaf | undefined => {
  const last = pagesTo(root, keyOf(stream), pages).at(-1)?.page
  return last && 'leaves' in last ? last.leaves.find(leaf => leaf.stream === stream) : undefined
}

/** The path of a stream that the tree has: at each branch its bit and the other child, from the leaf up. */
export const streamPath = (root: string, stream: string, pages: Pages): Step[] => {
  const key = keyOf(stream)
  return pagesTo(root, key, pages)
    .flatMap(({ place, page }) => stepsIn(place, page, key))
    .toReversed()
}

/** The tree with these leaves, of which there is at least one, each instead of the earlier leaf of its stream. */
export const withLeaves = (root: string, leaves: StreamLeaf[], pages: Pages): TreeChange => {
  const builder = new TreeBuilder(pages)
  const grown = builder.insert('', root === EMPTY_TREE ? '' : root, leaves.map(keyed))
  return { root: grown, added: builder.added, replaced: builder.replaced.filter(page => !builder.added.has(page)) }
}

/** Builds the changed pages of a tree. */
class TreeBuilder {
  readonly added = new Map<string, TreePage>()
  readonly replaced: string[] = []
  readonly #pages: Pages

  constructor(pages: Pages) {
    this.#pages = pages
  }

  /** Inserts leaves into the page at a place, which is empty if it has no hash. Returns its new hash. */
  insert(place: string, hash: string, leaves: KeyedLeaf[]): string {
    const page = hash === '' ? undefined : this.#replace(addressOf(place, hash))
    if (page && 'hashes' in page) return this.#divide(place, page, leaves)
    const all = page ? merged(page.leaves, leaves) : leaves
    if (all.length > MAX_LEAVES) return this.#divide(place, emptyBranches(), all)
    const sorted = all.toSorted(byKey)
    return this.#add(place, { page: { leaves: sorted }, hash: hashOfLeaves(sorted) })
  }

  #divide(place: string, page: BranchPage, leaves: KeyedLeaf[]): string {
    const tops = new Map<number, string>()
    for (const [digit, own] of groupedBy(leaves, ({ key }) => digitAt(key, place.length)))
      tops.set(digit, this.insert(place + digit.toString(16), topOf(page, digit), own))
    return this.#add(place, withTops(place, page, tops))
  }

  #replace(address: string): TreePage {
    const page = this.#pages.get(address)
    if (!page) throw new Error(`the page ${address} of the tree over all streams is not loaded`)
    this.replaced.push(address)
    return page
  }

  #add(place: string, { page, hash }: { page: TreePage; hash: string }): string {
    this.added.set(addressOf(place, hash), page)
    return hash
  }
}

const merged = (before: readonly KeyedLeaf[], leaves: KeyedLeaf[]): KeyedLeaf[] => [
  ...new Map([...before, ...leaves].map(leaf => [leaf.key, leaf])).values(),
]

const byKey = (one: KeyedLeaf, other: KeyedLeaf) => (one.key < other.key ? -1 : 1)

/** The loaded pages from the root towards a key, as far as they go. */
const pagesTo = (root: string, key: string, pages: Pages): { place: string; page: TreePage }[] => {
  const path: { place: string; page: TreePage }[] = []
  for (let [place, hash] = ['', root]; ; ) {
    const page = pages.get(addressOf(place, hash))
    if (page) path.push({ place, page })
    if (!page || 'leaves' in page) return path
    hash = topOf(page, digitAt(key, place.length))
    place = key.slice(0, place.length + 1)
  }
}
