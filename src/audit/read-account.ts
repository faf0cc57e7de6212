import type { AccountEvent } from '../../schemas/account-events.ts'
import type { Position, Recorded } from '../../schemas/recorded.ts'
import type { ReadableLog } from '../ports/event-log.ts'
import { eventCodec } from '../services/event-codec.ts'
import type { Fault } from './fault.ts'
import { type OnProgress, readLog } from './read-log.ts'
import { Chain } from './verify/chain.ts'

/** An event of an account, in its present shape. */
export type AccountRecord = Recorded<AccountEvent>

interface Options {
  /** Reads no event after this position. */
  head?: Position
  onProgress?: OnProgress | undefined
  /** Called for each event whose revision, link or time does not follow from the event before it. */
  onFault(fault: Fault): void
}

/** The events of an account, in order. Checks their chain on the way. Throws Damaged if an event cannot be read. */
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
      // The codec admits only events of accounts to the stream of an account.
      yield eventCodec.decode(raw) as AccountRecord
    }
}
