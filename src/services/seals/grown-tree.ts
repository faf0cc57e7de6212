import { emptyLogTree, withLink } from '../../domain/seals/log-tree.ts'
import { keyOf, type Pages, type StreamLeaf, type TreeChange, withLeaves } from '../../domain/seals/stream-tree.ts'
import type { Clock } from '../../ports/clock.ts'
import { Damaged } from '../../ports/faults.ts'
import { delay } from '../../time/timers.ts'
import { batchesOf } from './batches.ts'

/** Inserting one leaf takes a few milliseconds. */
const LEAVES_AT_ONCE = 100
const KEYS_AT_ONCE = 2000

/** Leaves whose keys share this many digits are inserted together. */
const SHARED_DIGITS = 3

/** Adds leaves to a tree, given the pages on their paths. Works in parts, and lets other work run in between. */
export const grownTree = async (
  root: string,
  leaves: StreamLeaf[],
  { pages, clock }: { pages: Pages; clock: Clock },
): Promise<TreeChange> => {
  const known = new Map(pages)
  const change: TreeChange = { root, added: new Map(), replaced: [] }
  for (const part of batchesOf(await inOrder(leaves, clock), LEAVES_AT_ONCE)) {
    const { root, added, replaced } = withLeaves(change.root, part, known)
    change.root = root
    // Replaces some pages of earlier parts.
    for (const address of replaced) {
      known.delete(address)
      if (!change.added.delete(address)) change.replaced.push(address)
    }
    for (const [address, page] of added) {
      change.added.set(address, page)
      known.set(address, page)
    }
    await delay(clock, 0)
  }
  return change
}

/** Orders leaves by the first digits of their keys, so that parts share few pages. */
const inOrder = async (leaves: StreamLeaf[], clock: Clock): Promise<StreamLeaf[]> => {
  const groups = new Map<string, StreamLeaf[]>()
  for (const batch of batchesOf(leaves, KEYS_AT_ONCE)) {
    for (const leaf of batch) {
      const digits = keyOf(leaf.stream).slice(0, SHARED_DIGITS)
      const group = groups.get(digits)
      if (group) group.push(leaf)
      else groups.set(digits, [leaf])
    }
    if (batch.length === KEYS_AT_ONCE) await delay(clock, 0)
  }
  return [...groups.keys()].sort().flatMap(digits => groups.get(digits) as StreamLeaf[])
}

/** Adds events to a leaf. Throws Damaged if they do not follow it. */
export const extended = (
  stream: string,
  events: { revision: number; link: string }[],
  leaf: StreamLeaf | undefined,
): StreamLeaf => {
  let { links, head } = leaf ?? { links: emptyLogTree, head: '' }
  for (const { revision, link } of events) {
    if (revision !== links.size)
      throw new Damaged(
        `${stream} continues with revision ${revision}, but its last seal ends before revision ${links.size}`,
      )
    links = withLink(links, link)
    head = link
  }
  return { stream, head, links }
}
