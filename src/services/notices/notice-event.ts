import type { NoticeEvent } from '../../../schemas/api/notice.ts'
import type { Notice } from '../../../schemas/notice-events.ts'
import { fromMicros } from '../../domain/money.ts'

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
    case 'model_retiring': {
      const { model, endpoints, retiresAt, replacedBy } = notice
      const successor = replacedBy !== undefined && { replaced_by: replacedBy }
      return { type: 'model.retiring', timestamp, data: { model, endpoints, retires_at: retiresAt, ...successor } }
    }
  }
}
