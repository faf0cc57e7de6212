import type { KeyLimits } from '../../../schemas/account-events.ts'
import { refuse } from '../../domain/refusal.ts'
import { type Answer, answer } from '../answer.ts'
import type { Offers } from '../catalog/offers.ts'
import { toCidr } from './key-addresses.ts'

interface Circumstances {
  offers: Offers
  /** Whether the account may use the families that are for testers. */
  tester: boolean
  nowMs: number
}

/** Checks the limits of a new key, and writes them as the log records them: models by their ids, addresses as CIDR. */
export const checkLimits = async (
  { expiresAt, budget, models = [], addresses = [] }: KeyLimits,
  { offers, tester, nowMs }: Circumstances,
): Promise<Answer<KeyLimits>> => {
  if (expiresAt !== undefined && Date.parse(expiresAt) <= nowMs) return refuse('key_expiry_past', { expiresAt })
  const ids = new Set<string>()
  for (const [index, model] of models.entries()) {
    const offer = await offers.find(model, tester)
    if (!offer) return refuse('key_model_unknown', { index, model })
    const { id, endpoints } = offer.family
    ids.add(endpoints.some(endpoint => endpoint.id === model) ? model : id)
  }
  const ranges = new Set<string>()
  for (const [index, address] of addresses.entries()) {
    const range = toCidr(address)
    if (range === undefined) return refuse('key_address_invalid', { index, address })
    ranges.add(range)
  }
  return answer({
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(budget && { budget }),
    ...(ids.size > 0 && { models: [...ids] }),
    ...(ranges.size > 0 && { addresses: [...ranges] }),
  })
}
