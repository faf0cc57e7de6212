import type { RawEvent } from '../../../schemas/recorded.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { type Answer, answer } from '../answer.ts'
import type { Page } from '../views/newest-first.ts'

export interface StreamQuery {
  limit: number
  /** The revision of the last event of the page before. */
  cursor?: string | undefined
}

/**
 * A page of a stream whose last event has the revision `last`, newest first. `show` leaves out events for which it
 * returns nothing, so that a page may be short.
 */
export const streamPage = async <Shown>(
  log: Pick<EventLog, 'readStream'>,
  stream: string,
  last: number,
  { limit, cursor }: StreamQuery,
  show: (raw: RawEvent) => Shown | undefined,
): Promise<Answer<Page<Shown, string>>> => {
  if (cursor !== undefined && Number(cursor) > last) return refuse('cursor_unknown')
  const end = cursor === undefined ? last : Number(cursor) - 1
  const start = Math.max(0, end - limit + 1)
  const found: Shown[] = []
  for await (const page of start > end ? [] : log.readStream(stream, start)) {
    for (const raw of page) {
      const shown = raw.revision <= end ? show(raw) : undefined
      if (shown) found.unshift(shown)
    }
    if ((page.at(-1)?.revision ?? end) >= end) break
  }
  return answer({ found, next: start > 0 ? String(start) : null })
}
