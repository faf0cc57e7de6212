import type { GrantKind, LotUse } from '../../../schemas/account-events.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { Damaged } from '../../ports/faults.ts'
import { type AuditedEvent, type Report, type Rule, runIdOf } from '../fault.ts'
import { Lots as Credits, type Use } from '../lots.ts'

/**
 * Lots are used, given back and ended as `docs/ledger-format.md`, "Lots", says. An ended run is remembered only until
 * lots have numbers: refunds then name the lots that get the credits.
 */
export class Lots implements Rule {
  readonly #lots = new Credits()
  readonly #uses = new Map<string, Use[]>()
  /** What the last failed run had used; its refund follows. */
  #failed: { runId: string; uses: Use[] } | undefined
  /** For each lot and time of its end, the days of the last notice. */
  readonly #toldDays = new Map<string, number>()
  /** One fault is enough: the lots after it are unknown. */
  #isBroken = false

  take(event: AuditedEvent, report: Report) {
    if (this.#isBroken) return
    try {
      this.#take(event)
    } catch (error) {
      if (!(error instanceof Damaged)) throw error
      this.#isBroken = true
      report(error.message)
    }
  }

  #take(event: AuditedEvent) {
    const data = event.data as unknown as Moved
    switch (event.type) {
      case 'CreditsGranted':
        this.#lots.grant(data)
        return
      case 'CreditsWithdrawn':
        this.#lots.withdraw(data)
        return
      case 'CreditsExpired':
        this.#lots.expire(data, clockOf(event))
        return
      case 'LotExtended':
        this.#lots.extend(data)
        return
      case 'NoticeRaised':
        return this.#takeNotice(event)
      case 'CreditsDebited':
        this.#uses.set(runIdOf(event), this.#lots.use(data.amountMicros))
        return
      case 'CreditsRefunded':
      case 'CreditsReleased':
        return this.#giveBack(runIdOf(event), data)
      case 'RunCompleted':
      case 'RunFailed':
        return this.#end(runIdOf(event), event.type === 'RunFailed')
    }
  }

  #takeNotice(event: AuditedEvent) {
    const notice = event.data['notice'] as {
      kind: string
      lot: number
      amountMicros: number
      expiresAt: string
      days: number
    }
    if (notice.kind !== 'credits_expiring') return
    const { leftMicros, expiresAt } = this.#lots.lot(notice.lot)
    if (leftMicros !== notice.amountMicros || expiresAt !== notice.expiresAt)
      throw new Damaged(`lot ${notice.lot} has ${leftMicros} left and expires at ${expiresAt}`)
    const leftMs = Date.parse(expiresAt) - Date.parse(clockOf(event))
    if (leftMs <= 0 || leftMs > notice.days * DAY_MS) throw new Damaged(`lot ${notice.lot} expires at ${expiresAt}`)
    const step = `${notice.lot} ${expiresAt}`
    if (notice.days >= (this.#toldDays.get(step) ?? Number.POSITIVE_INFINITY))
      throw new Damaged(`the owner was already notified of the end of lot ${notice.lot}`)
    this.#toldDays.set(step, notice.days)
  }

  #giveBack(runId: string, { amountMicros, lots }: Moved) {
    const uses = this.#uses.get(runId) ?? (this.#failed?.runId === runId ? this.#failed.uses : undefined)
    if (!uses && !lots) throw new Damaged(`it does not say which lots get the credits of ${runId}`)
    if (!uses) this.#lots.giveBackTo(lots as LotUse[], amountMicros)
    else {
      const given = this.#lots.giveBack(uses, amountMicros).map(use => `${use.amountMicros} of lot ${use.lot.number}`)
      const named = lots?.map(use => `${use.amountMicros} of lot ${use.lot}`) ?? given
      if (String(named) !== String(given)) throw new Damaged(`it gives back ${named}, and the run used ${given} last`)
    }
  }

  #end(runId: string, hasFailed: boolean) {
    const uses = this.#uses.get(runId)
    if (!uses) return
    if (hasFailed) this.#failed = { runId, uses }
    if (hasFailed || this.#lots.isNumbered) this.#uses.delete(runId)
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

type Moved = LotUse & { kind: GrantKind; expiresAt?: string; lots?: LotUse[] }
