import { isDeepStrictEqual } from 'node:util'
import type { GrantKind, LotUse, Payment } from '../../schemas/account-events.ts'
import type { Receipt } from '../../schemas/catalog.ts'
import { accountIn, type RecordedEvent } from '../../schemas/events.ts'
import type { LedgerKind } from '../../schemas/primitives.ts'
import { clockOf, type Position, type RawEvent } from '../../schemas/recorded.ts'
import { Damaged } from '../ports/faults.ts'
import { eventCodec } from '../services/event-codec.ts'
import { type Lot, Lots, type Split, type Use } from './lots.ts'

interface Run extends BookedRun {
  isOpen: boolean
  /** The debited credits, less those refunded or released. */
  uses: Use[]
}

type Movement = Pick<
  LedgerLine,
  'kind' | 'change' | 'uses' | 'grantKind' | 'reference' | 'reason' | 'payment' | 'run' | 'receipt'
>

/** The books of one account: when credits moved, and from which grants they came. */
export class AccountBook {
  readonly #lots = new Lots()
  readonly #runs = new Map<string, Run>()

  get balance(): Split {
    return this.#lots.left
  }

  /** The credits of each grant, in the order of the grants. */
  get lots(): readonly Lot[] {
    return this.#lots.all
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

  #move({ type, data, metadata }: RecordedEvent): Movement | undefined {
    switch (type) {
      case 'CreditsGranted': {
        const { amountMicros, kind: grantKind, reference, reason, payment } = data
        const uses = [{ lot: this.#lots.grant(data), amountMicros }]
        return { kind: 'grant', ...added(uses), grantKind, reference, reason, ...(payment && { payment }) }
      }
      case 'CreditsWithdrawn': {
        const { kind: grantKind, reference, reason } = data
        return { kind: 'withdrawal', ...taken(this.#lots.withdraw(data)), grantKind, reference, reason }
      }
      case 'CreditsExpired':
        return { kind: 'expiry', ...taken(this.#lots.expire(data, clockOf({ metadata }))) }
      case 'LotExtended':
        this.#lots.extend(data)
        return undefined
      case 'CreditsDebited': {
        const { runId, amountMicros, receipt, label } = data
        const { model, endpoint } = receipt
        const keyId = (metadata.actor as { keyId?: string }).keyId
        const asked = { ...(keyId !== undefined && { keyId }), ...(label !== undefined && { label }) }
        const run = { runId, model, endpoint, ...asked }
        const uses = this.#lots.use(amountMicros)
        this.#runs.set(runId, { ...run, isOpen: true, uses })
        return { kind: 'debit', ...taken(uses), run, receipt }
      }
      case 'CreditsRefunded': {
        const { runId, amountMicros, reason, lots } = data
        const { isOpen: _, uses, ...run } = this.#runOf(runId)
        const given = this.#lots.giveBack(uses, amountMicros)
        if (lots && !isDeepStrictEqual(lots, given.map(toLotUse)))
          throw new Damaged(`the refund of ${runId} names other lots than the run used last`)
        return { kind: 'refund', ...added(given), reason, run }
      }
      case 'CreditsReleased': {
        const { runId, amountMicros, receipt } = data
        const { isOpen: _, uses, ...run } = this.#runOf(runId)
        return { kind: 'release', ...added(this.#lots.giveBack(uses, amountMicros)), run, receipt }
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

const toLotUse = ({ lot, amountMicros }: Use) => ({ lot: lot.number, amountMicros })

const added = (uses: Use[]) => ({ change: splitOf(uses), uses: uses.map(toLotUse) })

const taken = (uses: Use[]) => ({ change: negated(splitOf(uses)), uses: uses.map(toLotUse) })

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
  /** The lots that the credits came from, or went to. */
  uses: LotUse[]
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
  'CreditsExpired',
  'LotExtended',
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
