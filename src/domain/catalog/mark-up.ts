import type { Binding, PriceList } from '../../../schemas/binding.ts'
import type { Endpoint, Family } from '../../../schemas/catalog.ts'
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
  const endpoints = family.endpoints.map(endpoint => ({ endpoint, baseMicros: baseFor(endpoint, terms) }))
  if (endpoints.every(({ baseMicros }) => baseMicros === undefined)) return undefined
  return {
    ...family,
    endpoints: endpoints.map(({ endpoint, baseMicros }) =>
      baseMicros === undefined ? endpoint : { ...endpoint, pricing: { ...endpoint.pricing, baseMicros } },
    ),
  }
}

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
    let least = Math.max(Math.ceil((targetMicros - priceAt(0)) / factor / STEP_MICROS), 1) * STEP_MICROS
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

/** Leaves out rules of several parameters: they only name sizes, and these inputs have no aspect ratio. */
const mayTake = ({ parameters, refuses = [] }: PricedBinding, input: Input): boolean => {
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
