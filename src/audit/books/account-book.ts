import type { RecordedEvent } from '../../../schemas/events.ts'
import { accountIn } from '../../../schemas/events.ts'
import { Damaged } from '../../ports/faults.ts'
import { type BookedRun, type LedgerLine, totalOf } from './ledger-line.ts'
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
