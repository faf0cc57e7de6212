import type { Binding, PriceList } from '../../../schemas/binding.ts'
import { type Endpoint, type Family, type PriceRule, type TokenKind, tokenKinds } from '../../../schemas/catalog.ts'
import { listPrice, quantitiesOf } from '../routing/list-price.ts'
import { upstreamParameters } from '../routing/upstream-parameters.ts'
import { extremes, pricedParameters, priceOf } from './pricing.ts'

type Input = Record<string, unknown>

export type PricedBinding = Pick<Binding, 'parameters' | 'refuses' | 'price'>

interface Terms {
  /** The factor on the list price, in millionths. */
  factorMicros: number
  usdPerCreditMicros: number
  /** The bindings that may get the runs of an endpoint. */
  bindingsOf(endpoint: string): readonly PricedBinding[]
}

const MILLION = 1_000_000

/** Prices are whole hundredths of a credit, so that people can read them. */
const STEP_MICROS = 10_000

/**
 * A family at prices that follow from its costs: the lowest base at which no run sells for less than the list price
 * times the factor, whichever binding gets it. The parameters that the price depends on stay as shipped. Undefined if
 * no list price of the family follows from an input alone.
 */
export const withMarkUp = (family: Family, terms: Terms): Family | undefined => {
  const prices = family.endpoints.map(endpoint => priceFor(endpoint, terms))
  if (prices.every(price => price === undefined)) return undefined
  return {
    ...family,
    endpoints: family.endpoints.map((endpoint, index) => ({
      ...endpoint,
      pricing: { ...endpoint.pricing, ...prices[index] },
    })),
  }
}

/** Whether an input of an endpoint sells for less than its list price. */
export const isSoldBelowCost = (endpoint: Endpoint, terms: Terms): boolean => {
  const bindings = terms.bindingsOf(endpoint.id)
  const { pricing } = endpoint
  if (pricing.tokens) {
    const least = tokensFor(endpoint, terms)?.tokens
    return least !== undefined && tokenKinds.some(kind => least[kind] - STEP_MICROS >= (pricing.tokens?.[kind] ?? 0))
  }
  return inputsOf(endpoint, bindings).some(input => {
    const targetMicros = targetOf(input, bindings, terms)
    return targetMicros !== undefined && priceOf(pricing, input, terms.usdPerCreditMicros).totalMicros < targetMicros
  })
}

const priceFor = (endpoint: Endpoint, terms: Terms): Partial<PriceRule> | undefined => {
  if (endpoint.pricing.tokens) return tokensFor(endpoint, terms)
  const baseMicros = baseFor(endpoint, terms)
  return baseMicros === undefined ? undefined : { baseMicros }
}

/** Each kind of token at the highest list price. Tokens without a price of their own are input or output. */
const tokensFor = ({ id }: Endpoint, terms: Terms): Partial<PriceRule> | undefined => {
  const units = terms.bindingsOf(id).flatMap(({ price }) => (price?.currency === 'USD' ? price.units : []))
  const rateOf = (...kinds: TokenKind[]): number | undefined => {
    for (const kind of kinds) {
      const rates = units.filter(({ tokens }) => tokens === kind).map(({ micros, per }) => (micros * MILLION) / per)
      if (rates.length > 0) return roundedUp((Math.max(...rates) * terms.factorMicros) / terms.usdPerCreditMicros)
    }
    return undefined
  }
  const [input, output] = [rateOf('input'), rateOf('output')]
  if (input === undefined || output === undefined) return undefined
  const tokens = {
    input,
    cached_input: rateOf('cached_input') ?? input,
    output,
    thinking: rateOf('thinking') ?? output,
  }
  return { tokens }
}

const roundedUp = (micros: number): number => Math.max(Math.ceil(micros / STEP_MICROS), 1) * STEP_MICROS

const baseFor = (endpoint: Endpoint, terms: Terms): number | undefined => {
  const { pricing } = endpoint
  const bindings = terms.bindingsOf(endpoint.id)
  let base: number | undefined
  for (const input of inputsOf(endpoint, bindings)) {
    const targetMicros = targetOf(input, bindings, terms)
    if (targetMicros === undefined) continue
    const priceAt = (baseMicros: number) =>
      priceOf({ ...pricing, baseMicros }, input, terms.usdPerCreditMicros).totalMicros
    const factor = (priceAt(MILLION) - priceAt(0)) / MILLION
    let least = roundedUp((targetMicros - priceAt(0)) / factor)
    // The factor is inexact, because prices are rounded.
    while (priceAt(least) < targetMicros) least += STEP_MICROS
    base = Math.max(base ?? 0, least)
  }
  return base
}

/** The lowest price of an input, in microcredits: the highest list price times the factor. */
const targetOf = (input: Input, bindings: readonly PricedBinding[], terms: Terms): number | undefined => {
  const costs = bindings.flatMap(({ price, ...mapping }) => {
    if (price?.currency !== 'USD' || !mayTake(mapping, input)) return []
    return listPrice(price, quantitiesOf(input, Number(input['num_images'] ?? 1)), input) ?? []
  })
  if (costs.length === 0) return undefined
  const usdMicros = (BigInt(Math.max(...costs)) * BigInt(terms.factorMicros)) / BigInt(MILLION)
  return Number((usdMicros * BigInt(MILLION)) / BigInt(terms.usdPerCreditMicros))
}

/** Whether a binding may get a run. Leaves out rules of several parameters, which only name sizes. */
export const mayTake = ({ parameters, refuses = [] }: PricedBinding, input: Input): boolean => {
  const single = parameters.filter(({ from }) => typeof from === 'string' && Object.hasOwn(input, from))
  const known = Object.fromEntries(single.map(({ from }) => [from, input[String(from)]]))
  return 'parameters' in upstreamParameters({ parameters: single, refuses }, known)
}

/** Every combination of the values at which a price or a list price is lowest or highest. */
const inputsOf = ({ pricing, parametersSchema }: Endpoint, bindings: readonly PricedBinding[]): Input[] => {
  const lists = bindings.flatMap(({ price }) => price ?? [])
  const names = new Set([...pricedParameters(pricing), ...lists.flatMap(parametersOf)])
  return [...names]
    .filter(name => parametersSchema.properties[name] !== undefined)
    .reduce<Input[]>(
      (inputs, name) => {
        const values = extremes(parametersSchema, name)
        return values.length === 0
          ? inputs
          : inputs.flatMap(input => values.map(value => ({ ...input, [name]: value })))
      },
      [longestText(parametersSchema.properties['text'])],
    )
}

const parametersOf = ({ units }: PriceList): string[] =>
  units.flatMap(({ unit, when = {} }) => [unit, ...Object.keys(when)])

/** Characters have a price, too. */
const longestText = ({ maxLength }: Record<string, unknown> = {}): Input =>
  typeof maxLength === 'number' ? { text: 'x'.repeat(maxLength) } : {}
