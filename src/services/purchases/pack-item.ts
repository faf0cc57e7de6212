import type * as api from '../../../schemas/api/packs.ts'
import type { CustomAmount, Pack } from '../../../schemas/packs.ts'
import { fromMicros } from '../../domain/money.ts'

/** A pack in the form of the API. */
export const packItem = ({
  id,
  name,
  creditsMicros,
  bonusMicros = 0,
  amount,
  currency,
  validDays,
}: Pack): api.Pack => ({
  object: 'pack',
  id,
  name,
  credits: fromMicros(creditsMicros),
  bonus_credits: fromMicros(bonusMicros),
  amount,
  currency,
  valid_days: validDays ?? null,
})

/** The bounds and the price of amounts that the buyer chooses. */
export const customAmountItem = (customAmount: CustomAmount): api.CustomAmount => ({
  min_credits: fromMicros(customAmount.minCreditsMicros),
  max_credits: fromMicros(customAmount.maxCreditsMicros),
  amount_per_credit: customAmount.amountPerCredit,
  currency: customAmount.currency,
  valid_days: customAmount.validDays ?? null,
})
