import type { AccountEvent } from '../../schemas/account-events.ts'
import { accountStream, CATALOG_STREAM } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { Position, RawEvent, Recorded } from '../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../ports/event-log.ts'
import { eventCodec } from '../services/event-codec.ts'
import type { Fault } from './fault.ts'
import { Chain } from './verify/chain.ts'

/** Called after each page with the current position and the head. Reading continues once it resolves. */
export type OnProgress = (position: Position, head: Position) => void | Promise<void>

interface ReadOptions {
  /** Reads only the events of this account. */
  account?: string | undefined
  /** Reads no event after this position; by default the current head of the log. */
  head?: Position
  onProgress?: OnProgress | undefined
}

/** The events of a log up to its current head, in pages. */
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
    // A part of an exported file may have no event of the account.
    if (reached === undefined) continue
    yield reached <= last ? page : page.filter(({ position }) => position <= last)
    await onProgress?.(Math.min(reached, last), last)
    if (reached >= last) return
  }
}

/** Whether an audit of one account needs a stream: its own, or the catalog with the prices. */
export const concerns = (stream: string, account: string | undefined): boolean =>
  account === undefined || stream === CATALOG_STREAM || stream === accountStream(account as AccountId)

/** An event of an account in its current shape. */
export type AccountRecord = Recorded<AccountEvent>

interface Options {
  /** Reads no event after this position. */
  head?: Position
  onProgress?: OnProgress | undefined
  /** Called for each event whose revision, link or time does not follow the previous event. */
  onFault(fault: Fault): void
}

/** The events of an account, in order. Checks their chain. Throws Damaged if an event cannot be read. */
export async function* readAccount(
  log: ReadableLog,
  account: string,
  { onFault, ...options }: Options,
): AsyncGenerator<AccountRecord> {
  const chain = new Chain()
  for await (const page of readLog(log, { account, ...options }))
    for (const raw of page) {
      const { stream, revision, position, id } = raw
      chain.take(raw, (what, isNote) => isNote || onFault({ stream, revision, position, eventId: id, what }))
      // The codec accepts only account events in the stream of an account.
      yield eventCodec.decode(raw) as AccountRecord
    }
}

/** The newest event; undefined in an empty log. */
export const lastEvent = async (log: ReadableLog): Promise<RawEvent | undefined> => {
  const head = await log.head()
  let last: RawEvent | undefined
  if (head > BEFORE_FIRST) for await (const page of log.readAll(head - 1)) last = page.at(-1)
  return last
}
