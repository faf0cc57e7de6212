import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { EventTexts, ProvenEvent, ProvenLeaf, ProvenSeal } from '../../../schemas/proof.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { inclusionPath, rootOf } from '../../domain/seals/log-tree.ts'
import { leafOf, type Pages, streamPath } from '../../domain/seals/stream-tree.ts'
import { firstPrevious, type Linkable, linkTexts } from '../../engine/log/hash-chain.ts'
import { Damaged } from '../../ports/faults.ts'

// The parts of proofs. See `docs/ledger-format.md`, "Proofs".

/** The format and version of the documents. */
export const PROOF = { format: 'tollgate-proof', version: 1 } as const

/** Events whose data customers must not see. The digest of the data in the link suffices for a proof. */
const WITHHELD = new Set<string>(['ProviderCostRecorded'] satisfies AccountEvent['type'][])

/** The texts of an event's link that a customer may see. Throws Damaged if the event has no link. */
export const textsOf = (event: RawEvent): EventTexts => {
  try {
    const { dataText, ...others } = linkTexts(event as Linkable)
    return dataText === undefined || WITHHELD.has(event.type) ? others : { ...others, dataText }
  } catch (error) {
    throw new Damaged(`${event.stream} has no link at revision ${event.revision}: ${(error as Error).message}`)
  }
}

/** The link that the event's link covers. `before` is the link of the previous event, if there is one. */
export const previousOf = (event: RawEvent, before: string | undefined): string =>
  before ?? firstPrevious(event as Linkable)

/** An event in the tree over its stream's links. */
export const provenEvent = (event: RawEvent, links: readonly string[]): ProvenEvent =>
  placedEvent(event, links[event.revision - 1], inclusionPath(links, event.revision))

/** An event with its previous link and its path. */
export const placedEvent = (event: RawEvent, before: string | undefined, path: string[]): ProvenEvent => ({
  revision: event.revision,
  previous: previousOf(event, before),
  ...textsOf(event),
  path,
})

/** A stream in the tree over all streams; undefined if it is not in the tree. */
export const provenLeaf = (root: string, stream: string, pages: Pages): ProvenLeaf | undefined => {
  const leaf = leafOf(root, stream, pages)
  if (!leaf) return undefined
  const { head, links } = leaf
  return { stream, revision: links.size - 1, head, links: rootOf(links), path: streamPath(root, stream, pages) }
}

export const provenSeal = (event: RawEvent): ProvenSeal => {
  const { previous } = event.data as { previous: string }
  const { linkText, dataText = '', metadataText = '' } = textsOf(event)
  return { previous, linkText, dataText, metadataText, link: linkOf(event) }
}

export const linkOf = ({ metadata }: RawEvent): string => (metadata as { hash: string }).hash
