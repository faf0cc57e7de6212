import { accountIn } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { AccountBook } from './account-book.ts'
import type { LedgerLine } from './ledger-line.ts'

/** The events that the books are made of. The others need not be decoded. */
const BOOKED = new Set([
  'CreditsGranted',
  'CreditsWithdrawn',
  'CreditsDebited',
  'CreditsRefunded',
  'RunCompleted',
  'RunFailed',
])

/** The books of all accounts in a log. */
export class Books {
  readonly accounts = new Map<string, AccountBook>()

  /** Takes the next event. Returns its line if it moved credits. Throws Damaged if they do not add up. */
  take(event: RawEvent): LedgerLine | undefined {
    const account = accountIn(event.stream)
    if (account === undefined || !BOOKED.has(event.type)) return undefined
    let book = this.accounts.get(account)
    if (!book) {
      book = new AccountBook()
      this.accounts.set(account, book)
    }
    return book.take(eventCodec.decode(event))
  }
}
