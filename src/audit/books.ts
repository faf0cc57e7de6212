import type { GrantKind, Payment } from '../../schemas/account-events.ts'
import type { Receipt } from '../../schemas/catalog.ts'
import { accountIn, type RecordedEvent } from '../../schemas/events.ts'
import type { Position, RawEvent } from '../../schemas/recorded.ts'
import { Damaged } from '../ports/faults.ts'
import { eventCodec } from '../services/event-codec.ts'
import { Lots, type Split, type Use } from './lots.ts'

interface Run extends BookedRun {
  isOpen: boolean
  /** The debited credits that were not given back. */
  uses: Use[]
}

type Movement = Pick<
  LedgerLine,
  'kind' | 'change' | 'grantKind' | 'reference' | 'reason' | 'payment' | 'run' | 'receipt'
>

/** Keeps the books of one account: which credits moved when, and where they came from. */
export class AccountBook {
  readonly #lots = new Lots()
  readonly #runs = new Map<string, Run>()

  get balance(): Split {
    return this.#lots.left
  }

  /** The runs that have not ended, each with the credits that it holds. */
  *openRuns(): Generator<BookedRun & { held: Split }> {
    for (const { isOpen, uses, ...run } of this.#runs.values()) if (isOpen) yield { ...run, held: splitOf(uses) }
  }

  /** Takes the account's next event. Returns its line if it moved credits. Throws Damaged if they do not add up. */
  take(event: RecordedEvent): LedgerLine | undefined {
    const movement = this.#move(event)
    if (!movement) return undefined
    const { id, stream, revision, position, metadata } = event
    const { balanceAfterMicros } = event.data as { balanceAfterMicros: number }
    const balance = this.balance
    if (totalOf(balance) !== balanceAfterMicros)
      throw new Damaged(
        `${stream}: the balance at revision ${revision} does not add up; see what tollgate audit verify finds`,
      )
    const { at, hash } = metadata
    return { account: accountIn(stream) ?? stream, revision, position, eventId: id, at, hash, ...movement, balance }
  }

  #move({ type, data, metadata: { actor } }: RecordedEvent): Movement | undefined {
    switch (type) {
      case 'CreditsGranted': {
        const { amountMicros, kind: grantKind, reference, reason, payment } = data
        const isPaid = grantKind === 'purchase'
        this.#lots.grant(amountMicros, isPaid)
        const change = isPaid
          ? { freeMicros: 0, paidMicros: amountMicros }
          : { freeMicros: amountMicros, paidMicros: 0 }
        return { kind: 'grant', change, grantKind, reference, reason, ...(payment && { payment }) }
      }
      case 'CreditsWithdrawn': {
        const { amountMicros, kind: grantKind, reference, reason } = data
        const uses = grantKind === 'purchase' ? this.#lots.usePaid(amountMicros) : this.#lots.use(amountMicros)
        return { kind: 'withdrawal', change: negated(splitOf(uses)), grantKind, reference, reason }
      }
      case 'CreditsDebited': {
        const { runId, amountMicros, receipt, label } = data
        const { model, endpoint } = receipt
        const keyId = (actor as { keyId?: string }).keyId
        const asked = { ...(keyId !== undefined && { keyId }), ...(label !== undefined && { label }) }
        const run = { runId, model, endpoint, ...asked }
        const uses = this.#lots.use(amountMicros)
        this.#runs.set(runId, { ...run, isOpen: true, uses })
        return { kind: 'debit', change: negated(splitOf(uses)), run, receipt }
      }
      case 'CreditsRefunded': {
        const { runId, amountMicros, reason } = data
        const { isOpen: _, uses, ...run } = this.#runOf(runId)
        return { kind: 'refund', change: this.#lots.giveBack(uses, amountMicros), reason, run }
      }
      case 'RunCompleted':
      case 'RunFailed': {
        const run = this.#runs.get(data.runId)
        // Test runs are not in the books.
        if (run) run.isOpen = false
        return undefined
      }
      default:
        return undefined
    }
  }

  #runOf(runId: string): Run {
    const run = this.#runs.get(runId)
    if (!run) throw new Damaged(`${runId} was never debited`)
    return run
  }
}

const splitOf = (uses: Use[]): Split => {
  const split = { freeMicros: 0, paidMicros: 0 }
  for (const { lot, amountMicros } of uses) split[lot.isPaid ? 'paidMicros' : 'freeMicros'] += amountMicros
  return split
}

const negated = ({ freeMicros, paidMicros }: Split): Split => ({
  freeMicros: 0 - freeMicros,
  paidMicros: 0 - paidMicros,
})

/** One movement of an account's credits, with everything that a book-keeper asks about it. */
export interface LedgerLine {
  account: string
  revision: number
  position: Position
  eventId: string
  /** ISO 8601, in UTC. */
  at: string
  /** The link of the event, which ties it to the account's history. */
  hash: string
  kind: 'grant' | 'withdrawal' | 'debit' | 'refund'
  /** The gain of the balance; negative for a loss. */
  change: Split
  balance: Split
  /** In grants and withdrawals. */
  grantKind?: GrantKind
  reference?: string
  /** In all lines but debits. */
  reason?: string
  /** In purchases, unless they are from before payments were recorded. */
  payment?: Payment
  /** In debits and refunds. */
  run?: BookedRun
  /** In debits. */
  receipt?: Receipt
}

/** A run as its debit describes it. */
export interface BookedRun {
  runId: string
  model: string
  endpoint: string
  /** The API key that requested it; absent if something else did. */
  keyId?: string
  /** The client's own name for what it was for. */
  label?: string
}

export const totalOf = ({ freeMicros, paidMicros }: Split): number => freeMicros + paidMicros

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
