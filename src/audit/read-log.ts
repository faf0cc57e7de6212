import { accountStream, CATALOG_STREAM } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { Position, RawEvent } from '../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../ports/event-log.ts'

/** Called after each page with the position that was reached, and the head. Reading goes on once it resolves. */
export type OnProgress = (position: Position, head: Position) => void | Promise<void>

interface ReadOptions {
  /** Reads only the events of this account. */
  account?: string | undefined
  /** Reads no event after this position; by default the present head of the log. */
  head?: Position
  onProgress?: OnProgress | undefined
}

/** The events of a log up to its present head, in pages. */
export async function* readLog(
  log: ReadableLog,
  { account, head, onProgress }: ReadOptions = {},
): AsyncGenerator<RawEvent[]> {
  const last = head ?? (await log.head())
  const pages =
    account === undefined ? log.readAll(BEFORE_FIRST) : log.readStream(accountStream(account as AccountId), 0)
  yield* upTo(last, pages, onProgress)
}

/** The pages up to a position. */
export async function* upTo<Event extends { position: Position }>(
  last: Position,
  pages: AsyncIterable<Event[]>,
  onProgress?: OnProgress,
): AsyncGenerator<Event[]> {
  for await (const page of pages) {
    const reached = page.at(-1)?.position
    // A part of an exported file may hold no event of the account.
    if (reached === undefined) continue
    yield reached <= last ? page : page.filter(({ position }) => position <= last)
    await onProgress?.(Math.min(reached, last), last)
    if (reached >= last) return
  }
}

/** Whether a stream belongs to an audit of one account, which also needs the catalog for its prices. */
export const concerns = (stream: string, account: string | undefined): boolean =>
  account === undefined || stream === CATALOG_STREAM || stream === accountStream(account as AccountId)
