import { keyed, type StreamLeaf } from '../../domain/seals/prefix-tree.ts'
import { EMPTY_TREE, keyOf, type Pages, type TreeChange } from '../../domain/seals/stream-tree.ts'
import { addressOf, type Below, below, branchesOver, type TreePage, topsOf } from '../../domain/seals/tree-page.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import { batchesOf } from './batches.ts'

/** A store reads this many pages within a few milliseconds. Hashing them takes as long. */
const PAGES_AT_ONCE = 400

/** A store accepts this many changes within a few milliseconds, and writes them in the background. */
const CHANGES_AT_ONCE = 500

/** Changes are sorted in groups that share this many characters, since sorting all at once would take long. */
const SHARED_DIGITS = 3

/** Hashing this many keys takes a few milliseconds. */
const KEYS_AT_ONCE = 2000

/** These pages take about 15 MB. A larger seal covers so many streams that few of them repeat in the next seal. */
const MAX_RECENT_PAGES = 10_000

/** The addresses in a list, whether or not the service wrote it. */
const ADDRESSES = /[\da-f]{0,64}\.[\da-f]{64}/g

interface Dependencies {
  views: Pick<ViewStore, 'loadNodes' | 'saveNodes' | 'clearNodes'>
  clock: Clock
}

/**
 * Stores the pages of the last two trees in the views: another process may be about to read the older one. Each page is
 * verified by its hash, so it cannot be forged.
 */
export class TreeStore {
  readonly #views: Dependencies['views']
  readonly #clock: Clock
  /**
   * The last stored pages, because the next seal is mostly about the same streams. The root is always read from the
   * store, to notice if the store has lost everything.
   */
  #recent: Pages = new Map()

  constructor({ views, clock }: Dependencies) {
    this.#views = views
    this.#clock = clock
  }

  /**
   * The pages on the paths of some streams. Reads the tree level by level. Rejects with NodeMissing if a page is
   * missing or changed.
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

  /** Stores the pages of a new tree, and deletes pages that only older trees have. */
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

  /** The pages that a tree replaced, and the lists of them. */
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

/** A page of a tree is missing or changed. The tree can be rebuilt from the log. */
export class NodeMissing extends Error {
  override name = 'NodeMissing'
}

/** The key of a list of replaced pages. It sorts after all pages. */
const listOf = (root: string, index: number): string => `replaced.${root}.${index}`

const toText = (value: TreePage | string[] | undefined): string | undefined =>
  Array.isArray(value) ? JSON.stringify(value) : value && textOf(value)

/** Sorts pages by place, so that a write touches few parts of the store. The lists come last. */
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

// View stores hold pages in this text form.

export const textOf = (page: TreePage): string =>
  'leaves' in page
    ? JSON.stringify(page.leaves.map(({ stream, head, links }) => ({ stream, head, links })))
    : topsOf(page).toString('base64url')

/** The page with this text, before its hash is verified; undefined if the text is not a page. */
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

/**
 * There must be one hash for each 1 bit of the size. Fewer hashes may have the same root, but would grow into another
 * tree.
 */
const isWhole = ({ links: { size, hashes } }: StreamLeaf): boolean =>
  hashes.length === [...size.toString(2)].filter(bit => bit === '1').length
