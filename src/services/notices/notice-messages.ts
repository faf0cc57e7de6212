import type { NoticeEvent } from '../../../schemas/api/notice.ts'
import type { Notice } from '../../../schemas/notice-events.ts'
import type { Brand } from '../../domain/brand.ts'
import { minuteText, secondText } from '../../domain/days.ts'
import { fromMicros } from '../../domain/money.ts'
import type { MailMessage } from '../../ports/mailer.ts'
import { CREDITS_PATH, purchasePath } from '../purchases/pages.ts'

interface NoticeMail {
  to: string
  notice: Notice
  /** The name of the key in the notice. */
  keyName: string
  brand: Pick<Brand, 'name'>
  publicUrl: string
}

/** A notice as mail. Lines are short, so that no mail program breaks them. Names of keys appear only in the text. */
export const noticeMail = ({ to, notice, keyName, brand, publicUrl }: NoticeMail): MailMessage => {
  const { subject, lines } = contentOf(notice, keyName, brand, publicUrl)
  const end =
    notice.kind === 'withdrawal_received'
      ? `Your purchase: ${publicUrl}${purchasePath(notice.purchaseId)}`
      : `To change these notices, send PUT ${publicUrl}/v1/notices.`
  return { to, subject, text: `${[...lines, '', end].join('\n')}\n` }
}

const contentOf = (
  notice: Notice,
  keyName: string,
  { name }: Pick<Brand, 'name'>,
  publicUrl: string,
): { subject: string; lines: string[] } => {
  switch (notice.kind) {
    case 'balance_low':
      return {
        subject: `Your ${name} balance is under ${fromMicros(notice.underMicros)} credits`,
        lines: [
          `Your account has ${fromMicros(notice.balanceMicros)} credits left.`,
          'Runs that cost more than that are refused.',
          '',
          'To continue, you need more credits. If the service sells credits, buy them at',
          `${publicUrl}${CREDITS_PATH}`,
          'Otherwise, ask the operator of the service.',
        ],
      }
    case 'budget_warning':
      return {
        subject: `An API key of your ${name} account has used 80 % of its budget`,
        lines: [
          ...budgetLines(notice, keyName),
          '',
          'If you need more before then, create a key with a larger budget.',
        ],
      }
    case 'budget_exhausted':
      return {
        subject: `An API key of your ${name} account has used its whole budget`,
        lines: [
          ...budgetLines(notice, keyName),
          'Until then, runs with this key are refused.',
          '',
          'To continue now, create a key with a larger budget.',
        ],
      }
    case 'key_expiring':
      return {
        subject: `An API key of your ${name} account expires soon`,
        lines: [
          `The key ${keyName}`,
          `expires at ${minuteText(notice.expiresAt)}. After that, requests with it are refused.`,
          '',
          'To continue, create another key before then, and replace this one where',
          'it is used.',
        ],
      }
    case 'credits_expiring':
      return {
        subject: `Credits of your ${name} account expire soon`,
        lines: [
          `${fromMicros(notice.amountMicros)} credits of your account expire at`,
          `${minuteText(notice.expiresAt)}. What you use before then is not lost: runs use`,
          'the credits that expire first.',
        ],
      }
    case 'top_up_stopped':
      return {
        subject: `Your ${name} account is no longer topped up`,
        lines: [
          'Three payments in a row failed, so the service has turned automatic',
          `top-ups off. The reason of the last failure: ${notice.code}.`,
          '',
          'To continue, buy credits once by hand, keep the payment method, and',
          'turn top-ups on again.',
        ],
      }
    case 'model_retiring':
      return {
        subject: `The model ${notice.model} retires soon at ${name}`,
        lines: [
          'Your account has used this model in the last 30 days.',
          `It retires at ${minuteText(notice.retiresAt)}. After that, runs of these endpoints are refused:`,
          ...notice.endpoints,
          '',
          notice.replacedBy === undefined
            ? 'To continue, choose another model.'
            : `To continue, use ${notice.replacedBy} instead.`,
        ],
      }
    case 'withdrawal_received': {
      const { purchaseId, declaredAt, paidAt, creditsMicros, paid, refund } = notice
      return {
        subject: `Your withdrawal from a purchase at ${name}`,
        lines: [
          'We have received your declaration that you withdraw from this contract:',
          '',
          `Purchase:  ${purchaseId}`,
          `Contract:  ${fromMicros(creditsMicros)} credits for ${paid.amount} ${paid.currency}`,
          `Paid:      ${secondText(paidAt)}`,
          `Received:  ${secondText(declaredAt)}`,
          `Paid back: ${refund.amount} ${refund.currency}`,
          '',
          ...(Number(refund.amount) > 0
            ? ['This is the price of the credits that you have not used. It goes back to', 'your payment method.']
            : ['Nothing is left to pay back: the credits were used, or paid back before.']),
          'Please keep this mail as your receipt.',
        ],
      }
    }
  }
}

const budgetLines = (
  { spentMicros, budgetMicros, renewsAt }: Extract<Notice, { kind: 'budget_warning' | 'budget_exhausted' }>,
  keyName: string,
): string[] => [
  `The key ${keyName}`,
  `has spent ${fromMicros(spentMicros)} of the ${fromMicros(budgetMicros)} credits of its budget.`,
  `The budget renews at ${minuteText(renewsAt)}.`,
]

/** A notice as the body of a webhook. */
export const noticeEvent = (notice: Notice, timestamp: string): NoticeEvent => {
  switch (notice.kind) {
    case 'balance_low': {
      const { balanceMicros, underMicros } = notice
      const data = { credits_balance: fromMicros(balanceMicros), under_credits: fromMicros(underMicros) }
      return { type: 'balance.low', timestamp, data }
    }
    case 'budget_warning':
    case 'budget_exhausted': {
      const { keyId, spentMicros, budgetMicros, renewsAt } = notice
      const type = notice.kind === 'budget_warning' ? 'budget.warning' : 'budget.exhausted'
      const spent = { budget_credits: fromMicros(budgetMicros), spent_credits: fromMicros(spentMicros) }
      return { type, timestamp, data: { key_id: keyId, ...spent, renews_at: renewsAt } }
    }
    case 'key_expiring':
      return { type: 'key.expiring', timestamp, data: { key_id: notice.keyId, expires_at: notice.expiresAt } }
    case 'credits_expiring': {
      const { lot, amountMicros, expiresAt } = notice
      return {
        type: 'credits.expiring',
        timestamp,
        data: { lot, credits: fromMicros(amountMicros), expires_at: expiresAt },
      }
    }
    case 'top_up_stopped':
      return { type: 'top_up.stopped', timestamp, data: { code: notice.code } }
    case 'model_retiring': {
      const { model, endpoints, retiresAt, replacedBy } = notice
      const successor = replacedBy !== undefined && { replaced_by: replacedBy }
      return { type: 'model.retiring', timestamp, data: { model, endpoints, retires_at: retiresAt, ...successor } }
    }
    case 'withdrawal_received': {
      const { purchaseId, declaredAt, refund } = notice
      const data = { purchase_id: purchaseId, declared_at: declaredAt, refund }
      return { type: 'withdrawal.received', timestamp, data }
    }
  }
}
