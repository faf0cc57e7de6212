import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Observable } from 'rxjs'
import { queues } from '../../projections/due.ts'
import { hasEnded, runKey } from '../../projections/runs.ts'
import type { WebhookEvent } from '../../schemas/api/webhook.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { DeliverTask, RunRow } from '../../schemas/views.ts'
import type { RecordDelivery } from '../domain/account/commands.ts'
import { ATTEMPT_TIMEOUT_MS, nextAttemptMs } from '../domain/webhook-schedule.ts'
import type { Changes } from '../engine/views/progress.ts'
import type { Reads } from '../engine/views/reads.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { type Outbound, OutboundError } from '../ports/outbound.ts'
import type { ViewStore } from '../ports/view-store.ts'
import type { Accounts } from '../services/accounts/accounts.ts'
import type { Presenter } from '../services/runs/present.ts'
import { signWebhook } from '../services/webhooks/webhook-signature.ts'
import { DueLoop } from './due-loop.ts'
import { Leases } from './leases.ts'
import { onceAvailable } from './once-available.ts'

/** Attempts that are under way to one host at a time, so that a slow receiver takes little from the others, and to all. */
const SLOTS_PER_HOST = 64
const SLOTS = 512

/** More than are recorded while the views are behind. */
const MAX_RECORDED = 50_000

/** How often due deliveries are looked for when nothing says that there are some. */
const POLL_MS = 500

/** How long an attempt is offered to a log that takes no writes; then it is made again, some time. */
const RECORD_MS = 10_000

/** How long a stop waits for attempts that are under way. What is not recorded then is tried again. */
const STOP_GRACE_MS = 3_000

interface Parts {
  accounts: Accounts
  views: ViewStore
  reads: Reads
  outbound: Outbound
  present: Presenter
  clock: Clock
  logger: Logger
  secretOf(accountId: AccountId): string
}

type Outcome = RecordDelivery['outcome']

/** Tells receivers of the ends of runs, by Standard Webhooks, and records each attempt. */
export class WebhooksReactor {
  readonly #parts: Parts
  readonly #loop: DueLoop<DeliverTask>
  readonly #leases: Leases<RunId>
  readonly #working = new Map<RunId, Promise<void>>()
  readonly #taken = new Map<string, number>()
  /** When the attempts that were recorded last were due. */
  readonly #recorded = new LRUCache<RunId, string>({ max: MAX_RECORDED })
  #stopped = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#leases = new Leases(parts, 'webhook')
    this.#loop = new DueLoop(parts, {
      queues: queues.deliver,
      pollMs: POLL_MS,
      take: rows => this.#take(rows),
    })
  }

  start(changes: Observable<Changes>) {
    this.#leases.start()
    this.#loop.start(changes)
  }

  async stop() {
    await this.#loop.stop()
    await Promise.race([Promise.all(this.#working.values()), delay(STOP_GRACE_MS, undefined, { ref: false })])
    this.#stopped = true
    await this.#leases.stop()
  }

  async #take(rows: DeliverTask[]): Promise<boolean> {
    // Until the views have passed the record of an attempt, they show it as due, and it must not be made again.
    const waiting = rows.filter(row => !this.#working.has(row.runId) && this.#recorded.get(row.runId) !== row.dueAt)
    const taken = this.#taken.get(rows[0]?.queue ?? '') ?? 0
    const free = Math.min(SLOTS_PER_HOST - taken, SLOTS - this.#working.size)
    const chosen = waiting.slice(0, Math.max(0, free))
    const leased = await this.#leases.take(chosen.map(row => row.runId))
    for (const row of chosen) if (leased.has(row.runId)) this.#begin(row)
    return chosen.length === waiting.length
  }

  #begin(row: DeliverTask) {
    const { runId, queue } = row
    this.#taken.set(queue, (this.#taken.get(queue) ?? 0) + 1)
    const done = this.#deliver(row)
      .catch(error => this.#parts.logger.error({ err: error, runId }, 'a webhook could not be delivered now'))
      .finally(() => {
        this.#working.delete(runId)
        this.#freeSlot(queue)
        this.#leases.release(runId)
      })
    this.#working.set(runId, done)
  }

  #freeSlot(queue: string) {
    const taken = (this.#taken.get(queue) ?? 1) - 1
    if (taken > 0) this.#taken.set(queue, taken)
    else this.#taken.delete(queue)
    // Looking for one more costs as much as looking for many.
    if (taken === SLOTS_PER_HOST / 2 || taken === 0) this.#loop.wake()
  }

  async #deliver(task: DeliverTask): Promise<void> {
    const { accountId, runId, attempt } = task
    const { reads, logger } = this.#parts
    const run = await reads.get('runs', runKey(accountId, runId))
    if (!run || !hasEnded(run)) return
    const outcome = await this.#attempt(task, run)
    // That the stop has cut a connection says nothing of the receiver.
    if (this.#stopped && !outcome.delivered) return
    logger.debug({ runId, attempt, ...outcome }, 'webhook')
    await this.#record(accountId, { type: 'RecordDelivery', runId, attempt, outcome })
    this.#recorded.set(runId, task.dueAt)
  }

  async #attempt({ url, accountId, runId, attempt }: DeliverTask, run: RunRow): Promise<Outcome> {
    const { outbound, present, clock, secretOf } = this.#parts
    const body = JSON.stringify({
      type: run.status === 'completed' ? 'run.completed' : 'run.failed',
      timestamp: run.completedAt ?? run.createdAt,
      data: present.run(run),
    } satisfies WebhookEvent)
    const nowMs = clock.nowMs()
    const signed = signWebhook({
      secret: secretOf(accountId),
      id: webhookId(runId),
      timestampSeconds: Math.floor(nowMs / 1000),
      body,
    })
    const headers = { 'content-type': 'application/json', ...signed }
    try {
      const { status, retryAfter } = await outbound.post(url, { headers, body, timeoutMs: ATTEMPT_TIMEOUT_MS })
      if (status >= 200 && status < 300) return { delivered: true, status }
      const reason = `The receiver answered with ${status}.`
      // 410 says that nobody is there any more.
      if (status === 410) return { delivered: false, status, reason }
      return { delivered: false, status, reason, ...this.#next(attempt, toMs(retryAfter, nowMs)) }
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      return { delivered: false, reason: error.message.slice(0, 300), ...this.#next(attempt) }
    }
  }

  #next(attempt: number, retryAfterMs?: number): { nextAttemptAt?: string } {
    const atMs = nextAttemptMs(attempt, this.#parts.clock.nowMs(), Math.random(), retryAfterMs)
    return atMs === undefined ? {} : { nextAttemptAt: new Date(atMs).toISOString() }
  }

  /** A refusal means that another process has made this attempt as well. */
  async #record(accountId: AccountId, command: RecordDelivery): Promise<void> {
    const untilMs = performance.now() + RECORD_MS
    await onceAvailable(
      () => this.#parts.accounts.execute(accountId, command, { actor: { kind: 'reactor' } }),
      () => performance.now() <= untilMs,
    )
  }
}

/** The same over all attempts, so that a receiver that was told twice can know it. */
const webhookId = (runId: RunId) => runId.replace(/^run_/, 'msg_')

/** `Retry-After` as milliseconds from now: it holds seconds, or a date (RFC 9110, section 10.2.3). */
const toMs = (retryAfter: string | undefined, nowMs: number): number | undefined => {
  if (retryAfter === undefined) return undefined
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000
  const atMs = Date.parse(retryAfter)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
