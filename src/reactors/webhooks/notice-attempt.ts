import type { KeyId } from '../../../schemas/primitives.ts'
import type { NoticeTask } from '../../../schemas/views.ts'
import type { RecordNotice } from '../../domain/account/commands.ts'
import { deliveryOf, mailAddress } from '../../domain/account/notices.ts'
import type { AccountState } from '../../domain/account/state.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Mailer } from '../../ports/mailer.ts'
import { noticeEvent, noticeMail } from '../../services/notices/notice-messages.ts'
import { sendWebhook } from '../../services/webhooks/send-webhook.ts'
import { nextAttempt, outcomeOf } from './attempt-outcome.ts'
import type { AttemptDependencies, Delivery } from './webhook-attempt.ts'

export interface NoticeDependencies extends AttemptDependencies {
  mailer: Pick<Mailer, 'send'>
  logger: Logger
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
  const { mailer, logger, publicUrl } = dependencies
  const to = mailAddress(state)
  if (to === undefined) return { delivered: false, reason: 'The account has no e-mail address.' }
  const keyName = 'keyId' in notice ? await nameOf(dependencies, notice.keyId, state) : ''
  try {
    await mailer.send(noticeMail({ to, notice, keyName, publicUrl: publicUrl() }))
    return { delivered: true }
  } catch (err) {
    // The address does not belong into the log.
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
