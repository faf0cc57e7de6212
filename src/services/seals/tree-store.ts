import { keyed, type StreamLeaf } from '../../domain/seals/prefix-tree.ts'
import { EMPTY_TREE, keyOf, type Pages, type TreeChange } from '../../domain/seals/stream-tree.ts'
import { addressOf, type Below, below, branchesOver, type TreePage, topsOf } from '../../domain/seals/tree-page.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import { delay } from '../../time/delay.ts'
import { batchesOf } from './batches.ts'

/** A store reads so many pages within a few milliseconds, and their hashes take as long. */
const PAGES_AT_ONCE = 400

/** A store takes so many changes within a few milliseconds, and writes them in the background. */
const CHANGES_AT_ONCE = 500

/** Changes whose keys share so many characters are sorted together, since sorting very many would take long. */
const SHARED_DIGITS = 3

/** So many hashes take a few milliseconds. */
const KEYS_AT_ONCE = 2000

/** So many pages take some 15 MB. A seal that changes more is about so many streams that few come again. */
const MAX_RECENT_PAGES = 10_000

/** Addresses in a list of them, also in one that no service wrote. */
const ADDRESSES = /[\da-f]{0,64}\.[\da-f]{64}/g

interface Dependencies {
  views: Pick<ViewStore, 'loadNodes' | 'saveNodes' | 'clearNodes'>
  clock: Clock
}

/**
 * Keeps the pages of trees over all streams in the views: those of the last two trees, since another process may be
 * about to read the one before the last. A page proves itself by its hash, so none can be forged.
 */
export class TreeStore {
  readonly #views: Dependencies['views']
  readonly #clock: Clock
  /**
   * The pages that were stored last, since the next seal is mostly about the same streams. The root is always read, so
   * that a store which has lost everything is noticed.
   */
  #recent: Pages = new Map()

  constructor({ views, clock }: Dependencies) {
    this.#views = views
    this.#clock = clock
  }

  /**
   * The pages on the paths of some streams, read one level of the tree at a time. Rejects with NodeMissing if one of
   * them is not stored as it was written.
   */
  async paths(root: string, streams: string[]): Promise<Pages> {
    const pages = new Map<string, TreePage>()
    let level: Below[] = root === EMPTY_TREE ? [] : [{ place: '', hash: root, keys: await this.#keysOf(streams) }]
    let loaded = 0
    while (level.length > 0) {
      const next: Below[] = []
      for (const batch of batchesOf(level, PAGES_AT_ONCE)) {
        next.push(...(await this.#load(batch, pages)))
        loaded += batch.length
        if (loaded < PAGES_AT_ONCE) continue
        await delay(this.#clock, 0)
        loaded = 0
      }
      level = next
    }
    return pages
  }

  /** Stores the pages of the tree that follows the one before, and deletes those that only earlier trees have. */
  async save(before: string, { root, added, replaced }: TreeChange): Promise<void> {
    const outdated = await this.#replacedBy(before)
    const changes = new Map<string, TreePage | string[] | undefined>(outdated.map(key => [key, undefined]))
    for (const [address, page] of added) changes.set(address, page)
    for (const [index, batch] of [...batchesOf(replaced, PAGES_AT_ONCE)].entries())
      changes.set(listOf(root, index), batch)
    for (const batch of batchesInOrder(changes.keys())) {
      await this.#views.saveNodes(batch.map(key => [key, toText(changes.get(key))]))
      if (batch.length >= CHANGES_AT_ONCE) await delay(this.#clock, 0)
    }
    const recent = new Map(added.size > MAX_RECENT_PAGES ? [] : added)
    recent.delete(addressOf('', root))
    this.#recent = recent
  }

  /** Deletes the pages of all trees. */
  async clear(): Promise<void> {
    this.#recent = new Map()
    await this.#views.clearNodes()
  }

  /** The pages that a tree replaced, and the lists that name them. */
  async #replacedBy(root: string): Promise<string[]> {
    const keys: string[] = []
    for (let index = 0; ; index++) {
      const list = listOf(root, index)
      const [text] = await this.#views.loadNodes([list])
      if (text === undefined) return keys
      keys.push(...(text.match(ADDRESSES) ?? []), list)
    }
  }

  async #keysOf(streams: string[]): Promise<string[]> {
    const keys: string[] = []
    for (const batch of batchesOf(streams, KEYS_AT_ONCE)) {
      keys.push(...batch.map(keyOf))
      if (batch.length === KEYS_AT_ONCE) await delay(this.#clock, 0)
    }
    return keys
  }

  async #load(level: Below[], pages: Map<string, TreePage>): Promise<Below[]> {
    const addresses = level.map(({ place, hash }) => addressOf(place, hash))
    const recent = this.#recent
    const stored = addresses.filter(address => !recent.has(address))
    const texts = await this.#views.loadNodes(stored)
    const textOf = new Map(stored.map((address, index) => [address, texts[index]]))
    return level.flatMap(({ place, hash, keys }, index) => {
      const address = addresses[index] as string
      const page = recent.get(address) ?? pageOf(place, textOf.get(address) ?? '')
      const next = page && below(place, hash, page, keys)
      if (!next) throw new NodeMissing(`the part ${address} of the tree over all streams is not stored`)
      pages.set(address, page)
      return next
    })
  }
}

/** A part of a tree was not stored, or not as it was written. The tree can be made again from the log. */
export class NodeMissing extends Error {
  override name = 'NodeMissing'
}

/** The key of a list of the pages that a tree replaced. It sorts after all places. */
const listOf = (root: string, index: number): string => `replaced.${root}.${index}`

const toText = (value: TreePage | string[] | undefined): string | undefined =>
  Array.isArray(value) ? JSON.stringify(value) : value && textOf(value)

/** In the order of their places, so that a write touches few parts of the store. The lists come last. */
function* batchesInOrder(keys: Iterable<string>): Generator<string[]> {
  const groups = new Map<string, string[]>()
  for (const key of keys) {
    const digits = key.slice(0, SHARED_DIGITS)
    const group = groups.get(digits)
    if (group) group.push(key)
    else groups.set(digits, [key])
  }
  let batch: string[] = []
  for (const digits of [...groups.keys()].sort()) {
    batch.push(...(groups.get(digits) as string[]).sort())
    if (batch.length < CHANGES_AT_ONCE) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

// The form in which view stores, which keep texts, hold pages of the tree over all streams.

export const textOf = (page: TreePage): string =>
  'leaves' in page
    ? JSON.stringify(page.leaves.map(({ stream, head, links }) => ({ stream, head, links })))
    : topsOf(page).toString('base64url')

/** The page with this text, whether or not its hash is right; undefined if no service wrote the text. */
export const pageOf = (place: string, text: string): TreePage | undefined =>
  text.startsWith('[') ? leavesOf(text) : branchesOver(place, Buffer.from(text, 'base64url'))

const leavesOf = (text: string): TreePage | undefined => {
  try {
    const leaves = JSON.parse(text) as StreamLeaf[]
    return leaves.every(isWhole) ? { leaves: leaves.map(keyed) } : undefined
  } catch {
    return undefined
  }
}

/** Fewer hashes may have the same root, and would grow into another tree: there is one for each bit of the size. */
const isWhole = ({ links: { size, hashes } }: StreamLeaf): boolean =>
  hashes.length === [...size.toString(2)].filter(bit => bit === '1').length
