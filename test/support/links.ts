import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** An event as it is in the log, of which nothing is known. */
export interface LinkedEvent {
  stream: string
  revision: number
  id: string
  type: string
  data: unknown
  /** The data as the log holds it, if `data` is not that. */
  stored?: unknown
  metadata: unknown
}

/** The texts and digests that a link is made of, by the names in `docs/ledger-format.md`. */
export interface LinkParts {
  genesisText?: string
  previous: string
  costText?: string
  costDigest?: string
  dataText?: string
  dataDigest?: string
  metadataText?: string
  metadataDigest?: string
  linkText: string
  link: string
}

/**
 * Makes the link of an event by `docs/ledger-format.md`. It shares no code with the service, so a mistake would have to be
 * made twice.
 */
export const makeLink = (before: string | undefined, event: LinkedEvent): LinkParts => {
  const { stream, revision, id, type, stored: data = event.data } = event
  const { hash: _, ...metadata } = event.metadata as { format?: number; hash?: string }
  if (metadata.format === undefined) {
    const previous = before ?? '0'.repeat(64)
    const linkText = canonical({ type, data, metadata })
    return { previous, linkText, link: sha256(previous + linkText) }
  }
  const { format } = metadata
  if (format !== 2 && format !== 3 && format !== 4) throw new RangeError(`format ${format} is not on the page`)
  const genesisText = canonical({ format, stream })
  const previous = before ?? sha256(genesisText)
  const { cost } = data as { cost?: object }
  const costText = format >= 3 && cost ? canonical(cost) : ''
  const costDigest = sha256(costText)
  const dataText = canonical(costText ? { ...(data as object), cost: costDigest } : data)
  const metadataText = canonical(metadata)
  const [dataDigest, metadataDigest] = [sha256(dataText), sha256(metadataText)]
  const linkText = canonical({ format, stream, revision, id, type, data: dataDigest, metadata: metadataDigest })
  return {
    ...(before === undefined && { genesisText }),
    previous,
    ...(costText && { costText, costDigest }),
    ...{ dataText, dataDigest, metadataText, metadataDigest, linkText },
    link: sha256(previous + linkText),
  }
}

const canonical = (value: unknown): string => canonicalize(value) as string

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

/** A chain whose every link is right. */
export interface Chain {
  events: number
  /** The last link. */
  last: string
  /** The format of each event, as one text of digits. */
  formats: string
}

/** The chain of each stream. Throws for the first event whose revision or link is wrong. */
export const checkChains = (events: LinkedEvent[]): Record<string, Chain> => {
  const chains: Record<string, Chain> = {}
  for (const event of events) {
    const { stream, revision } = event
    const { format = 1, hash } = event.metadata as { format?: number; hash: string }
    const before = chains[stream]
    const { link } = makeLink(before?.last, event)
    if (revision !== (before?.events ?? 0) || hash !== link) throw new Error(`${stream} is damaged at ${revision}`)
    chains[stream] = { events: revision + 1, last: link, formats: `${before?.formats ?? ''}${format}` }
  }
  return chains
}
