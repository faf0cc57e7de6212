import type { Position } from '../../schemas/recorded.ts'
import type { ReadableLog } from '../ports/event-log.ts'
import { AccountFold } from './account/account-fold.ts'
import { type AsOf, hadHappened } from './as-of.ts'
import type { LedgerLine } from './books.ts'
import type { Fault } from './fault.ts'
import { type AccountRecord, type OnProgress, readAccount } from './read-log.ts'

interface ReplayOptions {
  /** Takes no event after this moment; by default takes every event up to the current head of the log. */
  asOf?: AsOf | undefined
  /** Called after each event, with its line if it moved credits. */
  onEvent?(event: AccountRecord, line: LedgerLine | undefined, account: AccountFold): void
  onProgress?: OnProgress | undefined
}

export interface Replay {
  account: AccountFold
  /** The first event after the moment. */
  next?: AccountRecord
  /** Breaks in the chain of events. */
  faults: Fault[]
  /** The newest position in the log. */
  head: Position
}

/**
 * Takes the events of an account one by one, up to a moment. Stops at the first event after the moment, since times may
 * go back in ledger format 1. Throws Damaged if an event cannot be read, or the credits do not add up.
 */
export const replayAccount = async (
  log: ReadableLog,
  accountId: string,
  { asOf, onEvent, onProgress }: ReplayOptions = {},
): Promise<Replay> => {
  const account = new AccountFold()
  const faults: Fault[] = []
  const head = await log.head()
  for await (const event of readAccount(log, accountId, { head, onProgress, onFault: fault => faults.push(fault) })) {
    if (asOf && !hadHappened(event, asOf)) return { account, next: event, faults, head }
    const line = account.take(event)
    onEvent?.(event, line, account)
  }
  return { account, faults, head }
}
