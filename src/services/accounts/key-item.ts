import type { ApiKey, OwnKey } from '../../../schemas/api/key.ts'
import type { BudgetState } from '../../domain/account/budgets.ts'
import { scopeOf } from '../../domain/account/keys.ts'
import type { LimitPair } from '../../domain/account/state.ts'
import { fromMicros } from '../../domain/money.ts'
import type { KeyInfo, OwnKeyInfo } from './api-keys.ts'

/** A key as the API shows it. */
export const keyItem = (row: KeyInfo): ApiKey => {
  const { expiresAt, lastUsedAt, revokedAt, budget, spending, models, addresses } = row
  return {
    object: 'api_key',
    id: row.keyId,
    name: row.name,
    livemode: row.livemode !== false,
    scope: scopeOf(row),
    last_four: row.lastFour,
    created_at: row.createdAt,
    created_by: row.createdBy,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(lastUsedAt !== undefined && { last_used_at: lastUsedAt }),
    ...(revokedAt !== undefined && { revoked_at: revokedAt }),
    ...(budget && {
      budget: { credits: fromMicros(budget.amountMicros), period: budget.period, ...(spending && spentOf(spending)) },
    }),
    ...(models && { models }),
    ...(addresses && { addresses }),
  }
}

/** A key in the form of the API, in the response to a request with this key. */
export const ownKeyItem = ({ limits, ...row }: OwnKeyInfo): OwnKey => ({
  ...keyItem(row),
  limits: {
    requests_per_minute: limitItem(limits.requestsPerMinute),
    runs_in_flight: limitItem(limits.runsInFlight),
  },
})

const limitItem = ({ perKey, perAccount }: LimitPair) => ({
  ...(Number.isFinite(perKey) && { key: perKey }),
  ...(Number.isFinite(perAccount) && { account: perAccount }),
})

const spentOf = ({ budgetMicros, spentMicros, renewsAt }: BudgetState) => ({
  spent_credits: fromMicros(spentMicros),
  credits_left: fromMicros(budgetMicros - spentMicros),
  renews_at: renewsAt,
})
