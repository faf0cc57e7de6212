import type { GrantKind, Payment } from '../../schemas/account-events.ts'
import type { Receipt } from '../../schemas/catalog.ts'
import { accountIn, type RecordedEvent } from '../../schemas/events.ts'
import type { LedgerKind } from '../../schemas/primitives.ts'
import type { Position, RawEvent } from '../../schemas/recorded.ts'
import { Damaged } from '../ports/faults.ts'
import { eventCodec } from '../services/event-codec.ts'
import { Lots, type Split, type Use } from './lots.ts'

interface Run extends BookedRun {
  isOpen: boolean
  /** The debited credits, less those refunded or released. */
  uses: Use[]
}

type Movement = Pick<
  LedgerLine,
  'kind' | 'change' | 'grantKind' | 'reference' | 'reason' | 'payment' | 'run' | 'receipt'
>

/** The books of one account: when credits moved, and from which grants they came. */
export class AccountBook {
  readonly #lots = new Lots()
  readonly #runs = new Map<string, Run>()

  get balance(): Split {
    return this.#lots.left
  }

  /** The runs that have not ended, with the credits that they hold. */
  *openRuns(): Generator<BookedRun & { held: Split }> {
    for (const { isOpen, uses, ...run } of this.#runs.values()) if (isOpen) yield { ...run, held: splitOf(uses) }
  }

  /**
   * Takes the account's next event. Returns the event's line if it moved credits. Throws Damaged if they do not add up.
   */
  take(event: RecordedEvent): LedgerLine | undefined {
    const movement = this.#move(event)
    if (!movement) return undefined
    const { id, stream, revision, position, metadata } = event
    const { balanceAfterMicros } = event.data as { balanceAfterMicros: number }
    const balance = this.balance
    if (totalOf(balance) !== balanceAfterMicros)
      throw new Damaged(`${stream}: the balance at revision ${revision} does not add up; run tollgate audit verify`)
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
      case 'CreditsReleased': {
        const { runId, amountMicros, receipt } = data
        const { isOpen: _, uses, ...run } = this.#runOf(runId)
        return { kind: 'release', change: this.#lots.giveBack(uses, amountMicros), run, receipt }
      }
      case 'RunCompleted':
      case 'RunFailed': {
        const run = this.#runs.get(data.runId)
        // The books do not contain test runs.
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

/** One movement of an account's credits, with all facts for bookkeeping. */
export interface LedgerLine {
  account: string
  revision: number
  position: Position
  eventId: string
  /** ISO 8601, in UTC. */
  at: string
  hash: string
  kind: LedgerKind
  /** Negative if the balance falls. */
  change: Split
  balance: Split
  /** In grants and withdrawals. */
  grantKind?: GrantKind
  reference?: string
  /** Not in debits and releases. */
  reason?: string
  /** In purchases since payments are recorded. */
  payment?: Payment
  /** In debits, refunds and releases. */
  run?: BookedRun
  /** In debits, and in releases with the final price. */
  receipt?: Receipt
}

/** A run, from its debit. */
export interface BookedRun {
  runId: string
  model: string
  endpoint: string
  /** The API key that requested the run, if a key did. */
  keyId?: string
  /** The client's name for the purpose of the run. */
  label?: string
}

export const totalOf = ({ freeMicros, paidMicros }: Split): number => freeMicros + paidMicros

/** Events that change the books. Other events are not decoded. */
const BOOKED = new Set([
  'CreditsGranted',
  'CreditsWithdrawn',
  'CreditsDebited',
  'CreditsRefunded',
  'CreditsReleased',
  'RunCompleted',
  'RunFailed',
])

/** The books of all accounts in a log. */
export class Books {
  readonly accounts = new Map<string, AccountBook>()

  /** Takes the next event. Returns the event's line if it moved credits. Throws Damaged if they do not add up. */
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
