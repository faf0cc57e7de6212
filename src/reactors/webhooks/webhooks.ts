import { LRUCache } from 'lru-cache'
import type { Observable } from 'rxjs'
import { queues } from '../../../projections/due.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Position } from '../../../schemas/recorded.ts'
import type { DeliverTask, NoticeTask } from '../../../schemas/views.ts'
import type { RecordDelivery, RecordNotice } from '../../domain/account/commands.ts'
import { MAX_WAIT_MS } from '../../domain/webhook-schedule.ts'
import type { Changes } from '../../engine/views/view-progress.ts'
import { upTo } from '../../flow/cache-limit.ts'
import { Pace } from '../../flow/pace.ts'
import { Semaphore } from '../../flow/semaphore.ts'
import { adaptToHost } from '../../flow/slow-hosts.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import { retryUntilAvailable, withinTime } from '../../time/timers.ts'
import { chooseFrom, DueLoop } from '../due-loop.ts'
import { accountQueueOf } from '../due-rows.ts'
import { Leases } from '../leases.ts'
import { type Delivery, type NoticeDependencies, noticeDelivery, webhookDelivery } from './attempts.ts'

/** Attempts at a time, to one host and in total. The first limit keeps a slow receiver from delaying the others. */
const REQUESTS_PER_HOST = 128
const MAX_REQUESTS = 512

/** Deliveries that an account has not paid for, to one host: at once, and after that in each second. */
const FREE_BURST = 100
const FREE_PER_SECOND = 10

/** More attempts than are recorded while the views are behind. */
const MAX_RECORDED = 50_000

/** How often to look for due deliveries without being woken. */
const POLL_MS = 500

/** No attempt waits this long, even if the clocks of several machines differ. */
const MAX_AHEAD_MS = 2 * MAX_WAIT_MS

/** How long to try to record an attempt while the log accepts no writes. Then the attempt is repeated later. */
const RECORD_MS = 10_000

/** How long a stop waits for attempts in progress. Those not recorded by then are repeated. */
const STOP_GRACE_MS = 3_000

type Task = (DeliverTask | NoticeTask) & { position: Position }

interface Dependencies extends NoticeDependencies {
  accounts: AccountMailboxes
  views: ViewStore
  leaseMs?: number | undefined
}

/** Sends webhooks when runs end, and notices, and records each attempt. */
export class WebhooksReactor {
  readonly #dependencies: Dependencies
  readonly #loop: DueLoop<Task>
  readonly #leases: Leases<string>
  readonly #working = new Map<string, Promise<void>>()
  readonly #permits = new Semaphore({ each: REQUESTS_PER_HOST, total: MAX_REQUESTS })
  readonly #freePace: Pace
  /**
   * The positions of the rows whose attempts are recorded. A time would not do: by the clocks of two processes, a
   * delivery can be sent again at the very time at which it was due.
   */
  readonly #recorded = new LRUCache<string, Position>(upTo(MAX_RECORDED))
  #stopped = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#leases = new Leases(dependencies, 'webhook')
    this.#freePace = new Pace({ clock: dependencies.clock, burst: FREE_BURST, perSecond: FREE_PER_SECOND })
    this.#loop = new DueLoop(dependencies, {
      queues: queues.deliver,
      pollMs: POLL_MS,
      maxAheadMs: MAX_AHEAD_MS,
      // The views show an attempt as due until they pass its record. It must not be repeated meanwhile.
      needsWork: row => !this.#working.has(idOf(row)) && this.#recorded.get(idOf(row)) !== row.position,
      takeRows: rows => this.#take(rows),
    })
  }

  start(changes: Observable<Changes>) {
    this.#leases.start()
    this.#loop.start(changes)
  }

  async stop() {
    await this.#loop.stop()
    await withinTime(this.#dependencies.clock, Promise.all(this.#working.values()), STOP_GRACE_MS, () => undefined)
    this.#stopped = true
    await this.#leases.stop()
  }

  async #take(rows: Task[]): Promise<Task[]> {
    const { chosen, waiting } = chooseFrom(rows, row => this.#reserve(row))
    const leased = await this.#leases.takeLeases(chosen.map(idOf)).catch(error => {
      for (const row of chosen) this.#free(row)
      throw error
    })
    for (const row of chosen) {
      if (leased.has(idOf(row))) this.#begin(row)
      else this.#free(row)
    }
    return waiting
  }

  #reserve(row: Task): boolean {
    const { queue, accountId } = row
    const accountQueue = accountQueueOf(row)
    const isFree = queue.startsWith(queues.deliverFree)
    if (isFree && !this.#freePace.allows(accountQueue)) return false
    const isTaken = this.#permits.tryAcquire(hostOf(queue), accountId)
    if (isFree && isTaken) this.#freePace.count(accountQueue)
    return isTaken
  }

  #free({ queue, accountId }: Task) {
    this.#permits.release(hostOf(queue), accountId)
  }

  #begin(row: Task) {
    const id = idOf(row)
    const done = this.#deliver(row)
      .catch(error => {
        this.#dependencies.logger.error(
          { err: error, id },
          'a webhook or notice could not be delivered and will be retried',
        )
        return false
      })
      .then(wasSent => {
        this.#working.delete(id)
        this.#free(row)
        this.#leases.releaseLease(id)
        // Without an attempt, the loop would find the same row again.
        if (wasSent) this.#loop.resume()
      })
    this.#working.set(id, done)
  }

  /** Makes an attempt and records it. False if none was due. */
  async #deliver(task: Task): Promise<boolean> {
    const { queue, accountId } = task
    const { accounts, logger, clock } = this.#dependencies
    const isNotice = task.task === 'deliver-notice'
    const delivery: Delivery<RecordDelivery | RecordNotice> | undefined = isNotice
      ? noticeDelivery(this.#dependencies, task)
      : await webhookDelivery(this.#dependencies, task)
    if (!delivery) return false
    // The account's own state decides: a row may be older than it, or newer than the state of a moment ago.
    let state = await accounts.recentState(accountId)
    if (!delivery.isDue(state)) state = await accounts.currentState(accountId)
    if (!delivery.isDue(state)) {
      this.#recorded.set(idOf(task), task.position)
      return false
    }
    const command = await adaptToHost({ limits: this.#permits, clock }, hostOf(queue), () => delivery.attempt(state))
    const { type: _, outcome, ...facts } = command
    // The stop may have cut the connection; that is no failure of the receiver.
    if (this.#stopped && !outcome.delivered) return true
    logger.debug({ ...facts, ...outcome }, isNotice ? 'notice' : 'webhook')
    await this.#record(accountId, command)
    this.#recorded.set(idOf(task), task.position)
    return true
  }

  /** A refusal means that another process has also made this attempt. */
  async #record(accountId: AccountId, command: RecordDelivery | RecordNotice): Promise<void> {
    const { accounts, clock } = this.#dependencies
    const untilMs = clock.monotonicMs() + RECORD_MS
    await retryUntilAvailable(
      clock,
      () => accounts.execute({ kind: 'reactor' }, accountId, command),
      () => clock.monotonicMs() <= untilMs,
    )
  }
}

const hostOf = (queue: string) => queue.slice(queue.lastIndexOf('/') + 1)

const idOf = (task: Task): string =>
  task.task === 'deliver-notice' ? `${task.accountId}/${task.number}/${task.channel}` : task.runId
