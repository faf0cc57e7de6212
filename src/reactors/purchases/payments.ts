import type { Observable } from 'rxjs'
import { queues } from '../../../projections/due.ts'
import type { PaymentTask, RefundTask } from '../../../schemas/views.ts'
import type { Changes } from '../../engine/views/view-progress.ts'
import { Semaphore } from '../../flow/semaphore.ts'
import { PaymentRefused, type Payments } from '../../ports/payments.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import type { Purchases } from '../../services/purchases/purchases.ts'
import type { TopUps } from '../../services/purchases/top-ups.ts'
import type { Reads } from '../../services/views/reads.ts'
import { chooseFrom, DueLoop, type DueLoopDependencies } from '../due-loop.ts'

/** How often to look for refunds and purchases that are due. */
const POLL_MS = 5_000

/** How long to wait before the payment service is asked again about a purchase that is still open. */
const AGAIN_MS = 60 * 60 * 1000

/** How long to wait after a call that failed. */
const RETRY_MS = 60 * 1000

/**
 * How many tasks of a queue run at the same time. Stripe takes 25 requests a second in its test mode:
 * https://docs.stripe.com/rate-limits
 */
const AT_A_TIME = 4

const caller = { kind: 'reactor' } as const

interface Dependencies extends DueLoopDependencies {
  accounts: AccountMailboxes
  reads: Reads
  purchases: Purchases
  topUps: TopUps
  payments: Payments
}

/**
 * Asks the payment service for refunds, top-ups and fees, and about purchases of which it has reported nothing. It
 * needs no lease: the service knows each refund and charge by its key, and an account decides a repeated outcome once.
 */
export class PaymentsReactor {
  readonly #dependencies: Dependencies
  readonly #loop: DueLoop<PaymentTask>
  /** When each task that was tried is due again, by its row. */
  readonly #again = new Map<string, number>()
  readonly #working = new Map<string, Promise<void>>()
  readonly #permits = new Semaphore({ each: AT_A_TIME })

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#loop = new DueLoop(dependencies, {
      queues: queues.payments,
      pollMs: POLL_MS,
      needsWork: task => this.#needsWork(nameOf(task)),
      takeRows: async rows => this.#take(rows),
    })
  }

  start(changes: Observable<Changes>) {
    this.#loop.start(changes)
  }

  async stop() {
    await this.#loop.stop()
    await Promise.all(this.#working.values())
  }

  #needsWork(name: string): boolean {
    return !this.#working.has(name) && (this.#again.get(name) ?? 0) <= this.#dependencies.clock.monotonicMs()
  }

  /** Awaits no task, so that a slow answer about one delays no other. */
  #take(tasks: PaymentTask[]): PaymentTask[] {
    this.#forget()
    const { chosen, waiting } = chooseFrom(tasks, ({ queue, accountId }) => this.#permits.tryAcquire(queue, accountId))
    for (const task of chosen) this.#begin(task)
    return waiting
  }

  #begin(task: PaymentTask) {
    const done = this.#attempt(task).then(() => {
      this.#working.delete(nameOf(task))
      this.#permits.release(task.queue, task.accountId)
      this.#loop.resume()
    })
    this.#working.set(nameOf(task), done)
  }

  async #attempt(task: PaymentTask): Promise<void> {
    const { reads, logger, clock } = this.#dependencies
    const { accountId } = task
    try {
      await this.#do(task)
      await reads.ownWrites(accountId)
      // A task that was done leaves with its event.
      this.#again.set(nameOf(task), clock.monotonicMs() + againMs(task, clock.nowMs()))
    } catch (err) {
      logger.error({ err, accountId, task: task.task }, 'the payment service could not be asked; retrying')
      this.#again.set(nameOf(task), clock.monotonicMs() + RETRY_MS)
    }
  }

  async #do(task: PaymentTask): Promise<void> {
    const { purchases, topUps } = this.#dependencies
    switch (task.task) {
      case 'check-purchase':
        await purchases.check(caller, task.accountId, task.purchaseId)
        return
      case 'top-up':
        await topUps.advance(caller, task.accountId)
        return
      case 'refund-payment':
        return this.#refund(task)
    }
  }

  async #refund({ accountId, purchaseId, claimId }: RefundTask) {
    const { accounts, payments } = this.#dependencies
    const purchase = (await accounts.currentState(accountId)).purchases.get(purchaseId)
    const claim = purchase?.claims.find(each => each.claimId === claimId)
    if (!purchase?.payment || claim?.status !== 'requested') return
    const { paymentId } = purchase.payment
    const { amount, currency } = claim
    try {
      const money = { amount, currency }
      const reason = payments.unfit(money)
      if (reason !== undefined) throw new PaymentRefused('amount', reason)
      const request = { purchaseId, accountId, refundKey: claimId, paymentId, money }
      // After a day, the payment service no longer knows the key, and would do it again.
      const made = (await payments.refundsOf(paymentId)).find(({ refundKey }) => refundKey === claimId)
      const { refundId } = made ?? (await payments.refund(request))
      await accounts.execute(caller, accountId, { type: 'AcceptRefund', purchaseId, claimId, refundId })
    } catch (error) {
      if (!(error instanceof PaymentRefused)) throw error
      // The credits come back, and the operator sees why.
      this.#dependencies.logger.error({ err: error, accountId, purchaseId, claimId }, 'a refund was refused')
      const failed = { type: 'RecordRefund', purchaseId, claimId, amount, currency, hasFailed: true } as const
      await accounts.execute(caller, accountId, failed)
    }
  }

  /** Times that have passed decide nothing. */
  #forget() {
    const nowMs = this.#dependencies.clock.monotonicMs()
    for (const [name, atMs] of this.#again) if (atMs <= nowMs) this.#again.delete(name)
  }
}

/** Some payments never get a fee. They are asked about after as long as they are old, so ever more rarely. */
const againMs = (task: PaymentTask, nowMs: number): number =>
  'paidAt' in task ? Math.max(AGAIN_MS, nowMs - Date.parse(task.paidAt)) : AGAIN_MS

const nameOf = (task: PaymentTask): string => {
  switch (task.task) {
    case 'check-purchase':
      return task.purchaseId
    case 'top-up':
      // The next top-up of an account is another task.
      return `${task.accountId}/${task.dueAt}`
    case 'refund-payment':
      return `${task.accountId}/${task.claimId}`
  }
}
