import type { PurchaseOpened } from '../../../schemas/purchase-events.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Payments } from '../../ports/payments.ts'
import type { Random } from '../../ports/random.ts'
import type { Answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { newPurchaseId } from '../ids.ts'
import type { PriceList, SaleQuote, Wanted } from './price-list.ts'

/** The price of what a buyer asks for, if the payment service can take it. */
export const payableQuote = async (
  priceList: Pick<PriceList, 'quote'>,
  payments: Payments,
  caller: Caller,
  wanted: Wanted,
): Promise<Answer<SaleQuote>> => {
  const quoted = await priceList.quote(caller, wanted)
  const reason = 'refuse' in quoted ? undefined : payments.unfit(quoted.value)
  return reason === undefined ? quoted : refuse('amount_not_payable', { reason })
}

/** A new purchase at the price of a quote. `beginAtOnce` counts only if there are days for withdrawal. */
export const purchaseAt = (
  { name: _, taxCode: _taxCode, pack, bonusMicros, validDays, ...quote }: SaleQuote,
  random: Random,
  { withdrawalDays, beginAtOnce }: { withdrawalDays: number; beginAtOnce?: boolean | undefined },
): PurchaseOpened => ({
  ...{ purchaseId: newPurchaseId(random), ...quote },
  ...(bonusMicros > 0 && { bonusMicros }),
  ...(pack !== undefined && { pack }),
  ...(validDays !== undefined && { validDays }),
  ...(withdrawalDays > 0 && { withdrawalDays, ...(beginAtOnce && { beginAtOnce }) }),
})
