import {
  MAX_BILLED_UNITS,
  MAX_UNIT_LENGTH,
  type ProviderCost,
  type RunErrorCode,
} from '../../../schemas/account-events.ts'
import type { PriceList } from '../../../schemas/binding.ts'
import { CURRENCY } from '../../../schemas/primitives.ts'
import { listPrice, quantitiesOf } from '../../domain/routing/list-price.ts'
import type { ProviderOutcome, Work } from '../../ports/provider.ts'

/** Failures after which the provider may continue the work, or has done a part of it. */
const MAY_BE_BILLED: readonly RunErrorCode[] = ['interrupted', 'provider_timeout', 'cancelled']

/** Whether a vendor that was asked to do a run may bill it. A vendor that refuses a job bills nothing. */
export const mayBeBilled = (outcome: ProviderOutcome): boolean =>
  outcome.kind === 'done' || outcome.work !== undefined || MAY_BE_BILLED.includes(outcome.code)

/** What a vendor bills for a run: by its own account, or else by the price list of the binding. */
export const providerCost = (
  outcome: ProviderOutcome,
  price: PriceList | undefined,
  input: Record<string, unknown>,
): Omit<ProviderCost, 'salt'> => {
  const { work } = outcome
  const billed = billedUnits(work?.units)
  const units = billed && { units: billed }
  const reported = reportedAmount(work)
  if (reported) return { ...units, ...reported, source: 'reported' }
  const made = outcome.kind === 'done' && quantitiesOf(input, outcome.media.length)
  const quantities = { ...made, ...billed }
  const amountMicros = price && listPrice(price, quantities, input)
  if (price === undefined || amountMicros === undefined) return { ...units, source: 'unknown' }
  return { ...units, amountMicros, currency: price.currency, source: 'price_list' }
}

const reportedAmount = ({ cost }: Work = {}) =>
  cost && Number.isSafeInteger(cost.amountMicros) && cost.amountMicros >= 0 && IS_CURRENCY.test(cost.currency)
    ? cost
    : undefined

const IS_CURRENCY = new RegExp(`^${CURRENCY}$`)

/** The units that an event can hold. A vendor may report anything. */
const billedUnits = (units: Record<string, number> = {}): Record<string, number> | undefined => {
  const entries = Object.entries(units).filter(([unit, quantity]) => {
    const length = [...unit].length
    return length > 0 && length <= MAX_UNIT_LENGTH && unit.isWellFormed() && Number.isFinite(quantity) && quantity >= 0
  })
  return entries.length > 0 ? Object.fromEntries(entries.slice(0, MAX_BILLED_UNITS)) : undefined
}
