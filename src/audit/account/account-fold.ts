import type { TelegramIdentity } from '../../../schemas/identity.ts'
import { Damaged } from '../../ports/faults.ts'
import { AccountBook, type BookedRun, type LedgerLine } from '../books.ts'
import type { Lot, Split } from '../lots.ts'
import type { AccountRecord } from '../read-log.ts'
import { KeyRing } from './key-ring.ts'
import { PendingWebhooks } from './pending-webhooks.ts'
import { StoredUploads } from './stored-uploads.ts'

/** The reason for a suspension, and its start. */
export interface Suspension {
  reason: string
  since: string
}

export interface Opening {
  accountId: string
  email?: string
  identity?: TelegramIdentity
  tester: boolean
  openedAt: string
}

/** A run that has not ended, with the credits that it holds. */
export interface OpenRun extends BookedRun {
  status: 'queued' | 'processing'
  requestedAt: string
  held: Split
}

/** An account after an event of its stream. It shares no code with the decisions that made the events. */
export class AccountFold {
  readonly keys = new KeyRing()
  readonly webhooks = new PendingWebhooks()
  readonly uploads = new StoredUploads()
  readonly sums = {
    ...{ grantedMicros: 0, withdrawnMicros: 0, debitedMicros: 0 },
    ...{ refundedMicros: 0, releasedMicros: 0, expiredMicros: 0 },
  }
  readonly #book = new AccountBook()
  readonly #runs = new Map<string, Pick<OpenRun, 'status' | 'requestedAt'>>()
  #opening: Opening | undefined
  #suspension: Suspension | undefined
  #last: AccountRecord | undefined

  /**
   * Takes the next event. Returns the event's ledger line if it moved credits. Throws Damaged if the credits do not add
   * up.
   */
  take(event: AccountRecord): LedgerLine | undefined {
    if (!this.#opening && event.type !== 'AccountOpened')
      throw new Damaged(`${event.stream} does not begin with its opening; run tollgate audit verify`)
    const line = this.#book.take(event)
    this.#last = event
    this.keys.take(event)
    this.webhooks.take(event)
    this.uploads.take(event)
    this.#takeOther(event)
    return line
  }

  /** Undefined before the account is opened. */
  get opening(): Opening | undefined {
    return this.#opening
  }

  get suspension(): Suspension | undefined {
    return this.#suspension
  }

  /** Undefined before the first event. */
  get last(): AccountRecord | undefined {
    return this.#last
  }

  get balance(): Split {
    return this.#book.balance
  }

  /** The lots that have credits, in the order of their grants. */
  lots(): Lot[] {
    return this.#book.lots.filter(({ leftMicros }) => leftMicros > 0)
  }

  openRuns(): OpenRun[] {
    return [...this.#book.openRuns()].map(run => ({
      ...run,
      ...(this.#runs.get(run.runId) as Pick<OpenRun, 'status' | 'requestedAt'>),
    }))
  }

  #takeOther({ type, data, metadata: { at } }: AccountRecord) {
    switch (type) {
      case 'AccountOpened':
        this.#opening = { ...data, openedAt: at }
        return
      case 'AccountSuspended':
        this.#suspension = { reason: data.reason, since: at }
        return
      case 'AccountResumed':
        this.#suspension = undefined
        return
      case 'TesterSet':
        this.#opening = { ...(this.#opening as Opening), ...data }
        return
      case 'CreditsGranted':
        this.sums.grantedMicros += data.amountMicros
        return
      case 'CreditsWithdrawn':
        this.sums.withdrawnMicros += data.amountMicros
        return
      case 'CreditsRefunded':
        this.sums.refundedMicros += data.amountMicros
        return
      case 'CreditsReleased':
        this.sums.releasedMicros += data.amountMicros
        return
      case 'CreditsExpired':
        this.sums.expiredMicros += data.amountMicros
        return
      case 'CreditsDebited':
        this.sums.debitedMicros += data.amountMicros
        this.#runs.set(data.runId, { status: 'queued', requestedAt: at })
        return
      case 'RunStarted': {
        const run = this.#runs.get(data.runId)
        if (run) run.status = 'processing'
        return
      }
      case 'RunCompleted':
      case 'RunFailed':
        this.#runs.delete(data.runId)
    }
  }
}
