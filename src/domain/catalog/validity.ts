import type { Endpoint, Family } from '../../../schemas/catalog.ts'
import { fromMicros, isWholeMicros } from '../money.ts'
import { namesOf } from './family.ts'
import { extremes, pricedParameters, priceRange, surchargeMicros } from './pricing.ts'

/** The largest whole number whose millionths a double represents exactly. */
const MAX_COUNT = Math.floor(fromMicros(Number.MAX_SAFE_INTEGER))

/** The most combinations of extreme values to price, which takes some milliseconds. */
const MAX_COMBINATIONS = 10_000

/** The lowest price of a credit that can be configured, at which surcharges cost the most credits. */
const LOWEST_USD_PER_CREDIT_MICROS = 1

/** A fault that the schema cannot express. `id` is that of the faulty family or endpoint. */
export type FamilyFault = { id: string } & (
  | { code: 'text_ill_formed'; path: string }
  | { code: 'name_taken'; name: string }
  | { code: 'kind_repeated' }
  | { code: 'schema_unusable'; reason: string }
  | EndpointFault
)

type EndpointFault =
  | { code: 'id_mismatch'; expectedId: string }
  /** The price depends on a parameter that the schema does not have. */
  | { code: 'parameter_unknown'; parameter: string }
  /** A quantity may be zero, unbounded or not a whole number of millionths. */
  | { code: 'quantity_uncountable'; parameter: string }
  /** The multipliers are for a parameter whose values are not listed. */
  | { code: 'values_not_listed'; parameter: string }
  /** The multipliers are for a parameter with values that are objects or lists. */
  | { code: 'values_not_scalar'; parameter: string }
  | { code: 'multiplier_missing'; parameter: string; value: string }
  | PriceFault

type PriceFault =
  /** A number of a quantity is not a whole number of millionths, or too large. */
  | { code: 'quantity_inexact'; parameter: string; maximum: number }
  /** The price depends on a parameter whose values have no limits. */
  | { code: 'price_unbounded'; parameter: string }
  | { code: 'price_combinations'; limit: number }
  /** A run could cost nothing. */
  | { code: 'price_missing' }
  /** The highest price has no exact number of microcredits. */
  | { code: 'price_too_high' }

/** The first fault of a family; undefined if it is valid. */
export const findFault = (family: Family, others: Family[]): FamilyFault | undefined => {
  const own = ownFaultOf(family)
  if (own?.code === 'text_ill_formed') return own
  const taken = new Set(others.flatMap(namesOf))
  const clash = namesOf(family).find(name => taken.has(name))
  return clash ? { id: family.id, code: 'name_taken', name: clash } : own
}

/** A start decides several times on each family, which never changes, and its prices take the longest to check. */
const ownFaults = new WeakMap<Family, { fault: FamilyFault | undefined }>()

const ownFaultOf = (family: Family): FamilyFault | undefined => {
  const known = ownFaults.get(family) ?? { fault: findOwnFault(family) }
  ownFaults.set(family, known)
  return known.fault
}

const findOwnFault = (family: Family): FamilyFault | undefined => {
  const place = illFormedPlace(family)
  if (place !== undefined) return { id: family.id, code: 'text_ill_formed', path: place }
  if (new Set(family.endpoints.map(endpoint => endpoint.kind)).size < family.endpoints.length)
    return { id: family.id, code: 'kind_repeated' }
  for (const endpoint of family.endpoints) {
    const fault = findEndpointFault(endpoint, family)
    if (fault) return { id: endpoint.id, ...fault }
  }
  return undefined
}

const findEndpointFault = (
  { id, kind, pricing, parametersSchema }: Endpoint,
  family: Family,
): EndpointFault | undefined => {
  const expectedId = `${family.id}-${kind}`
  if (id !== expectedId) return { code: 'id_mismatch', expectedId }
  const unknown = pricedParameters(pricing).find(parameter => !Object.hasOwn(parametersSchema.properties, parameter))
  if (unknown) return { code: 'parameter_unknown', parameter: unknown }
  const uncountable = pricing.quantities.find(parameter => !isCountable(parametersSchema.properties[parameter] ?? {}))
  if (uncountable) return { code: 'quantity_uncountable', parameter: uncountable }
  for (const [parameter, table] of Object.entries(pricing.multipliers)) {
    const values = parametersSchema.properties[parameter]?.['enum']
    if (!Array.isArray(values)) return { code: 'values_not_listed', parameter }
    if (values.some(value => typeof value === 'object')) return { code: 'values_not_scalar', parameter }
    const missing = values.map(String).find(value => !Object.hasOwn(table, value))
    if (missing !== undefined) return { code: 'multiplier_missing', parameter, value: missing }
  }
  return findPriceFault(pricing, parametersSchema)
}

/** Without a price range, no client could list any model. */
const findPriceFault = (
  pricing: Endpoint['pricing'],
  parametersSchema: Endpoint['parametersSchema'],
): PriceFault | undefined => {
  const uncounted = pricing.quantities.find(name => !numbersOf(parametersSchema.properties[name]).every(isWholeMicros))
  if (uncounted) return { code: 'quantity_inexact', parameter: uncounted, maximum: MAX_COUNT }
  let combinations = 1
  for (const parameter of pricedParameters(pricing)) {
    const values = extremes(parametersSchema, parameter)
    if (values.length === 0) return { code: 'price_unbounded', parameter }
    combinations *= values.length
  }
  if (combinations > MAX_COMBINATIONS) return { code: 'price_combinations', limit: MAX_COMBINATIONS }
  if (!isExact(pricing, parametersSchema)) return { code: 'price_too_high' }
  const { minMicros } = priceRange({ ...pricing, surcharges: [] }, parametersSchema, LOWEST_USD_PER_CREDIT_MICROS)
  return minMicros > 0 ? undefined : { code: 'price_missing' }
}

/** Whether the highest price, with all surcharges, is exact. */
const isExact = (pricing: Endpoint['pricing'], parametersSchema: Endpoint['parametersSchema']): boolean => {
  try {
    const { maxMicros } = priceRange({ ...pricing, surcharges: [] }, parametersSchema, LOWEST_USD_PER_CREDIT_MICROS)
    const surcharges = pricing.surcharges.map(each => surchargeMicros(each.usdMicros, LOWEST_USD_PER_CREDIT_MICROS))
    return Number.isSafeInteger(surcharges.reduce((sum, each) => sum + each, maxMicros))
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** The numbers that decide which values a quantity can have. */
const numbersOf = (declared: Record<string, unknown> = {}): number[] => {
  const { minimum, maximum, multipleOf, default: preset } = declared
  const listed = Array.isArray(declared['enum']) ? declared['enum'] : []
  return [minimum, maximum, multipleOf, preset, ...listed].filter(value => typeof value === 'number')
}

const isCountable = ({ type, minimum, maximum, multipleOf }: Record<string, unknown>): boolean =>
  typeof minimum === 'number' &&
  minimum > 0 &&
  typeof maximum === 'number' &&
  (type === 'integer' || typeof multipleOf === 'number')

/**
 * A JSON Pointer to the first text in a JSON value that holds half of a surrogate pair, for which JSON has no canonical
 * form; undefined if there is none. A name of a field is a text too.
 */
export const illFormedPlace = (value: unknown, place = ''): string | undefined => {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : place
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, part] of Object.entries(value)) {
    const inside = `${place}/${name.toWellFormed()}`
    const found = name.isWellFormed() ? illFormedPlace(part, inside) : inside
    if (found !== undefined) return found
  }
  return undefined
}
