import type { WebhookEvent } from '../../schemas/api/webhook.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { DeliverTask, RunRow } from '../../schemas/views.ts'
import type { RecordDelivery } from '../domain/account/commands.ts'
import { ATTEMPT_TIMEOUT_MS, nextAttemptMs } from '../domain/webhook-schedule.ts'
import type { Clock } from '../ports/clock.ts'
import { type Outbound, OutboundError } from '../ports/outbound.ts'
import type { Random } from '../ports/random.ts'
import type { Presenter } from '../services/presenter.ts'
import { signWebhook } from '../services/webhooks/webhook-signature.ts'

export interface AttemptParts {
  outbound: Outbound
  present: Presenter
  clock: Clock
  random: Random
  secretOf(accountId: AccountId): string
}

type DeliveryOutcome = RecordDelivery['outcome']

/** Sends the webhook of an ended run once (https://www.standardwebhooks.com). */
export const attemptDelivery = async (
  parts: AttemptParts,
  { url, accountId, runId, attempt }: DeliverTask,
  run: RunRow,
): Promise<DeliveryOutcome> => {
  const { outbound, present, clock, secretOf } = parts
  const body = JSON.stringify({
    type: run.status === 'completed' ? 'run.completed' : 'run.failed',
    timestamp: run.completedAt ?? run.createdAt,
    livemode: run.livemode !== false,
    data: present.run(atItsEnd(run)),
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
    // 410 means that the receiver is gone for good.
    if (status === 410) return { delivered: false, status, reason }
    return { delivered: false, status, reason, ...next(parts, attempt, toMs(retryAfter, nowMs)) }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { delivered: false, reason: error.message.slice(0, 300), ...next(parts, attempt) }
  }
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

/** The same for all attempts, so that receivers can recognise repeats. */
const webhookId = (runId: RunId) => runId.replace(/^run_/, 'msg_')

/** `Retry-After` as milliseconds from now: it holds seconds, or a date (RFC 9110, section 10.2.3). */
const toMs = (retryAfter: string | undefined, nowMs: number): number | undefined => {
  if (retryAfter === undefined) return undefined
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000
  const atMs = Date.parse(retryAfter)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
