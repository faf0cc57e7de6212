import type * as api from '../../../schemas/api/packs.ts'
import type { FreeAmount, Pack } from '../../../schemas/packs.ts'
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
export const freeAmountItem = (freeAmount: FreeAmount): api.FreeAmount => ({
  min_credits: fromMicros(freeAmount.minCreditsMicros),
  max_credits: fromMicros(freeAmount.maxCreditsMicros),
  amount_per_credit: freeAmount.amountPerCredit,
  currency: freeAmount.currency,
  valid_days: freeAmount.validDays ?? null,
})
