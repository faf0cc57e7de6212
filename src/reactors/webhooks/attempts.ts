import { hasEnded } from '../../../projections/runs.ts'
import type { KeyId } from '../../../schemas/primitives.ts'
import type { DeliverTask, NoticeTask, RunRow } from '../../../schemas/views.ts'
import type { RecordDelivery, RecordNotice } from '../../domain/account/commands.ts'
import { deliveryOf, mailAddress } from '../../domain/account/notices.ts'
import type { AccountState } from '../../domain/account/state.ts'
import type { Brand } from '../../domain/brand.ts'
import { nextAttemptMs } from '../../domain/webhook-schedule.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Mailer } from '../../ports/mailer.ts'
import type { Random } from '../../ports/random.ts'
import { webhookIdOf } from '../../services/ids.ts'
import { noticeEvent, noticeMail } from '../../services/notices/notice-messages.ts'
import type { Presenter } from '../../services/presenter.ts'
import { type RunRowDependencies, readRunRow } from '../../services/runs/run-rows.ts'
import {
  type SendDependencies,
  type SentWebhook,
  sendWebhook,
  type WebhookSecrets,
} from '../../services/webhooks/send-webhook.ts'

interface AttemptDependencies extends SendDependencies, RunRowDependencies {
  present: Presenter
  secretsOf: WebhookSecrets
  random: Random
}

/** One attempt to deliver something. */
export interface Delivery<Command extends { outcome: { delivered: boolean } }> {
  /** Whether the account is still owed this attempt. */
  isDue(state: AccountState): boolean
  /** Makes the attempt. Resolves to the command that records it. */
  attempt(state: AccountState): Promise<Command>
}

/** The webhook of a run; undefined if the run has not ended. */
export const webhookDelivery = async (
  dependencies: AttemptDependencies,
  { url, accountId, runId, attempt }: DeliverTask,
): Promise<Delivery<RecordDelivery> | undefined> => {
  const run = await readRunRow(dependencies, accountId, runId)
  if (!run || !hasEnded(run)) return undefined
  return {
    isDue: ({ deliveries }) => deliveries.get(runId)?.attempts === attempt - 1,
    attempt: async state => {
      const sent = await sendWebhook(dependencies, {
        url,
        id: webhookIdOf(runId),
        secrets: dependencies.secretsOf(accountId, state, dependencies.clock.nowMs(), run),
        event: {
          type: run.status === 'completed' ? 'run.completed' : 'run.failed',
          timestamp: run.completedAt ?? run.createdAt,
          livemode: run.livemode !== false,
          data: dependencies.present.run(atItsEnd(run)),
        },
      })
      return { type: 'RecordDelivery', runId, attempt, outcome: outcomeOf(dependencies, attempt, sent) }
    },
  }
}

/**
 * A completed run without its later changes: a refund, or the deletion of its output. All attempts must carry the same
 * body, since receivers recognise repeats by their ID.
 */
const atItsEnd = (run: RunRow): RunRow => {
  if (run.status === 'failed') return run
  const { refundedMicros: _, outputDeletedAt: __, ...ended } = run
  return ended
}

export interface NoticeDependencies extends AttemptDependencies {
  mailer: Pick<Mailer, 'send'>
  logger: Logger
  brand: Pick<Brand, 'name'>
  publicUrl(): string
}

/** A notice, by mail or as a webhook. */
export const noticeDelivery = (dependencies: NoticeDependencies, task: NoticeTask): Delivery<RecordNotice> => {
  const { number, channel, attempt } = task
  return {
    isDue: ({ noticeDeliveries }) => noticeDeliveries.get(deliveryOf(task)) === attempt - 1,
    attempt: async state => {
      const outcome =
        channel === 'email' ? await mail(dependencies, task, state) : await post(dependencies, task, state)
      return { type: 'RecordNotice', number, channel, attempt, outcome }
    },
  }
}

const mail = async (
  dependencies: NoticeDependencies,
  { notice, attempt }: NoticeTask,
  state: AccountState,
): Promise<RecordNotice['outcome']> => {
  const { mailer, logger, brand, publicUrl } = dependencies
  const to = mailAddress(state)
  if (to === undefined) return { delivered: false, reason: 'The account has no e-mail address.' }
  const keyName = 'keyId' in notice ? await nameOf(dependencies, notice.keyId, state) : ''
  try {
    await mailer.send(noticeMail({ to, notice, keyName, brand, publicUrl: publicUrl() }))
    return { delivered: true }
  } catch (err) {
    // The address does not belong in the log.
    logger.warn({ err, kind: notice.kind }, 'a notice could not be mailed and will be retried; check SMTP_URL')
    return {
      delivered: false,
      reason: 'The mail server did not accept the message.',
      ...nextAttempt(dependencies, attempt),
    }
  }
}

const post = async (
  dependencies: NoticeDependencies,
  { accountId, number, url = '', notice, raisedAt, attempt }: NoticeTask,
  state: AccountState,
): Promise<RecordNotice['outcome']> => {
  const sent = await sendWebhook(dependencies, {
    // The same for all attempts, so that receivers can recognise repeats.
    ...{ url, id: `${accountId.replace(/^acct_/, 'msg_')}_${number}` },
    secrets: dependencies.secretsOf(accountId, state, dependencies.clock.nowMs(), {}),
    event: noticeEvent(notice, raisedAt),
  })
  return outcomeOf(dependencies, attempt, sent)
}

/** A key as its owner knows it. The name of a revoked key is not looked for. */
const nameOf = async ({ reads }: NoticeDependencies, keyId: KeyId, { activeKeys }: AccountState): Promise<string> => {
  const hash = activeKeys.get(keyId)?.hash
  const row = hash === undefined ? undefined : await reads.get('keys', hash)
  return row ? `"${row.name}" (ending in ${row.lastFour})` : keyId
}

interface Dependencies {
  clock: Clock
  random: Random
}

/** The outcome of an attempt to deliver a webhook, with the time of the next one after a failure. */
const outcomeOf = (
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

/** The time of the next attempt after a failed one; nothing after the last attempt. */
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
