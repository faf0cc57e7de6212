import type { DeliverTask, RunRow } from '../../schemas/views.ts'
import type { RecordDelivery } from '../domain/account/commands.ts'
import { nextAttemptMs } from '../domain/webhook-schedule.ts'
import type { Random } from '../ports/random.ts'
import { webhookIdOf } from '../services/ids.ts'
import type { Presenter } from '../services/presenter.ts'
import { type SendParts, sendWebhook } from '../services/webhooks/send-webhook.ts'

export interface AttemptParts extends SendParts {
  present: Presenter
  random: Random
}

type DeliveryOutcome = RecordDelivery['outcome']

/** Sends the webhook of an ended run once, signed with each of the secrets. */
export const attemptDelivery = async (
  parts: AttemptParts,
  { url, runId, attempt }: DeliverTask,
  run: RunRow,
  secrets: string[],
): Promise<DeliveryOutcome> => {
  const { status, reason, retryAfter } = await sendWebhook(parts, {
    ...{ url, id: webhookIdOf(runId), secrets },
    event: {
      type: run.status === 'completed' ? 'run.completed' : 'run.failed',
      timestamp: run.completedAt ?? run.createdAt,
      data: parts.present.run(atItsEnd(run)),
    },
  })
  if (status === undefined) return { delivered: false, reason: reason as string, ...next(parts, attempt) }
  if (reason === undefined) return { delivered: true, status }
  // 410 means that the receiver is gone for good.
  if (status === 410) return { delivered: false, status, reason }
  return { delivered: false, status, reason, ...next(parts, attempt, toMs(retryAfter, parts.clock.nowMs())) }
}

const next = ({ clock, random }: AttemptParts, attempt: number, retryAfterMs?: number): { nextAttemptAt?: string } => {
  const atMs = nextAttemptMs(attempt, clock.nowMs(), random.fraction(), retryAfterMs)
  return atMs === undefined ? {} : { nextAttemptAt: new Date(atMs).toISOString() }
}

/**
 * A completed run without what happened to it later: a refund, or the deletion of its output. All attempts must carry
 * the same body, since receivers recognise repeats by their id.
 */
const atItsEnd = (run: RunRow): RunRow => {
  if (run.status === 'failed') return run
  const { refundedMicros: _, outputDeletedAt: __, ...ended } = run
  return ended
}

/** `Retry-After` as milliseconds from now: it holds seconds, or a date (RFC 9110, section 10.2.3). */
const toMs = (retryAfter: string | undefined, nowMs: number): number | undefined => {
  if (retryAfter === undefined) return undefined
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000
  const atMs = Date.parse(retryAfter)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
