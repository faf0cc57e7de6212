import type { RecordDelivery } from '../../domain/account/commands.ts'
import { nextAttemptMs } from '../../domain/webhook-schedule.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { SentWebhook } from '../../services/webhooks/send-webhook.ts'

interface Dependencies {
  clock: Clock
  random: Random
}

/** The outcome of an attempt to deliver a webhook, with the time of the next one after a failure. */
export const outcomeOf = (
  dependencies: Dependencies,
  attempt: number,
  { status, reason, retryAfter }: SentWebhook,
): RecordDelivery['outcome'] => {
  if (status === undefined) return { delivered: false, reason: reason as string, ...nextAttempt(dependencies, attempt) }
  if (reason === undefined) return { delivered: true, status }
  // 410 means that the receiver is gone for good.
  if (status === 410) return { delivered: false, status, reason }
  return {
    delivered: false,
    status,
    reason,
    ...nextAttempt(dependencies, attempt, toMs(retryAfter, dependencies.clock.nowMs())),
  }
}

/** The time of the attempt after one that has failed; nothing after the last. */
export const nextAttempt = (
  { clock, random }: Dependencies,
  attempt: number,
  retryAfterMs?: number,
): { nextAttemptAt?: string } => {
  const atMs = nextAttemptMs(attempt, clock.nowMs(), random.fraction(), retryAfterMs)
  return atMs === undefined ? {} : { nextAttemptAt: new Date(atMs).toISOString() }
}

/** `Retry-After` as milliseconds from now: it holds seconds, or a date (RFC 9110, section 10.2.3). */
const toMs = (retryAfter: string | undefined, nowMs: number): number | undefined => {
  if (retryAfter === undefined) return undefined
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000
  const atMs = Date.parse(retryAfter)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
