import type { Binding } from '../../../schemas/binding.ts'
import type { Endpoint, Family } from '../../../schemas/catalog.ts'
import { isSoldBelowCost, mayTake } from '../../domain/catalog/mark-up.ts'
import { priceOf, surchargeMicros } from '../../domain/catalog/pricing.ts'
import { usualTokens } from '../../domain/catalog/tokens.ts'
import { findFault } from '../../domain/catalog/validity.ts'
import { refuse } from '../../domain/refusal.ts'
import { listPrice, quantitiesOf } from '../../domain/routing/list-price.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import type { Routing } from '../providers/routing.ts'

type Input = Record<string, unknown>

/** What runs of an endpoint cost, in microcredits. */
export interface EndpointPrice {
  endpoint: Endpoint
  /** The price of a usual run: the first example of the schema, with its defaults. */
  usualMicros: number
  /** Surcharges are in dollars. */
  usdPerCreditMicros: number
  /** The most that a provider charges for the same run; undefined if none has a list price in dollars for it. */
  cost: { provider: string; micros: number } | undefined
  /** Whether some run sells for less than a provider's list price. */
  isBelowCost: boolean
}

interface Dependencies {
  routing: Pick<Routing, 'bindings'>
  /** The providers that have keys. */
  configured: readonly string[]
  usdPerCreditMicros: number
}

/** Compares prices with the list prices of the providers, for operators. */
export class Prices {
  readonly #dependencies: Dependencies

  readonly permissions = { ofFamily: 'operate' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The prices of a family in any of its forms, by endpoint. */
  async ofFamily(caller: Caller, family: Family): Promise<Answer<EndpointPrice[]>> {
    const { endpoints } = family
    // A price rule that does not fit its schema has no price.
    const fault = findFault(family, [])
    if (fault) return refuse('family_invalid', { fault })
    const { routing, configured, usdPerCreditMicros } = this.#dependencies
    const chosen = await routing.bindings(caller)
    if ('refuse' in chosen) return chosen
    const isOn = chosen.value.filter(({ isDisabled, isProviderDisabled }) => !isDisabled && !isProviderDisabled)
    /** Those that may get runs. Without any key, the prices of all providers are of use. */
    const bindingsOf = (endpoint: string): Binding[] => {
      const all = isOn.flatMap(({ binding }) => (binding.endpoint === endpoint ? [binding] : []))
      const own = all.filter(({ provider }) => configured.includes(provider))
      return own.length > 0 ? own : all
    }
    const terms = { factorMicros: 1_000_000, usdPerCreditMicros, bindingsOf }
    return answer(
      endpoints.map(endpoint => {
        const input = usualInput(endpoint)
        const usage = endpoint.pricing.tokens && usualTokens(endpoint.pricing, input)
        const { totalMicros } = priceOf(endpoint.pricing, input, usdPerCreditMicros, usage)
        const costs = bindingsOf(endpoint.id).flatMap(binding => {
          const { provider, price } = binding
          if (price?.currency !== 'USD' || !mayTake(binding, input)) return []
          const tokens = price.units.flatMap(({ unit, tokens: kind }) => (kind && usage ? [[unit, usage[kind]]] : []))
          const quantities = { ...quantitiesOf(input, Number(input['num_images'] ?? 1)), ...Object.fromEntries(tokens) }
          const usdMicros = listPrice(price, quantities, input)
          return usdMicros === undefined ? [] : { provider, micros: surchargeMicros(usdMicros, usdPerCreditMicros) }
        })
        return {
          endpoint,
          ...{ usualMicros: totalMicros, usdPerCreditMicros },
          cost: costs.sort((one, other) => other.micros - one.micros)[0],
          isBelowCost: isSoldBelowCost(endpoint, terms),
        }
      }),
    )
  }
}

const usualInput = ({ parametersSchema: { properties, examples = [] } }: Endpoint): Input => {
  const defaults = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  )
  return { ...Object.fromEntries(defaults), ...examples[0] }
}
