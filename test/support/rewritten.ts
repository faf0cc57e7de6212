import type { RawEvent } from '../../schemas/recorded.ts'
import { makeLink } from './links.ts'

/**
 * A log as someone would write it who can do so: revisions, positions and links are computed again, and nothing is
 * encrypted.
 */
export const rewritten = (log: RawEvent[]): RawEvent[] => {
  const heads = new Map<string, { revision: number; link: string }>()
  return log.map(({ stored: _, ...event }, position) => {
    const head = heads.get(event.stream)
    const revision = (head?.revision ?? -1) + 1
    const { link } = makeLink(head?.link, { ...event, revision })
    heads.set(event.stream, { revision, link })
    return { ...event, revision, position, metadata: { ...(event.metadata as object), hash: link } }
  })
}
