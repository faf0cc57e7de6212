import type { Endpoint, Family } from '../../../schemas/catalog.ts'
import { fromMicros, isWholeMicros } from '../money.ts'
import { illFormedPlace } from '../well-formed.ts'
import { extremes, pricedParameters, priceRange, surchargeMicros } from './pricing.ts'

/** The largest whole number whose millionths a double represents exactly. */
const MAX_COUNT = Math.floor(fromMicros(Number.MAX_SAFE_INTEGER))

/** The most combinations of extreme values to price, which takes some milliseconds. */
const MAX_COMBINATIONS = 10_000

/** The price of a credit at which surcharges cost the most credits: the lowest one that can be configured. */
const LOWEST_USD_PER_CREDIT_MICROS = 1

/** A fault that the schema cannot express, in words for the operator; undefined if the family is valid. */
export const findFault = (family: Family, others: Family[]): string | undefined => {
  const place = illFormedPlace(family)
  if (place !== undefined) return `${family.id}: the text at ${place} is not well-formed Unicode`
  const taken = new Set(others.flatMap(other => [other.id, ...other.aliases]))
  const clash = [family.id, ...family.aliases].find(name => taken.has(name))
  if (clash) return `${family.id}: the name ${clash} belongs to another family`
  if (new Set(family.endpoints.map(endpoint => endpoint.kind)).size < family.endpoints.length)
    return `${family.id} has two endpoints of one kind`
  for (const endpoint of family.endpoints) {
    const fault = findEndpointFault(endpoint, family)
    if (fault) return `${endpoint.id}: ${fault}`
  }
  return undefined
}

const findEndpointFault = ({ id, kind, pricing, parametersSchema }: Endpoint, family: Family): string | undefined => {
  if (id !== `${family.id}-${kind}`) return `the id must be ${family.id}-${kind}`
  const unknown = pricedParameters(pricing).find(parameter => !Object.hasOwn(parametersSchema.properties, parameter))
  if (unknown) return `the price depends on ${unknown}, which is not a parameter`
  const uncountable = pricing.quantities.find(parameter => !isCountable(parametersSchema.properties[parameter] ?? {}))
  if (uncountable) return `${uncountable} is a quantity and so needs a minimum above 0, a maximum, and whole millionths`
  for (const [parameter, table] of Object.entries(pricing.multipliers)) {
    const values = parametersSchema.properties[parameter]?.['enum']
    if (!Array.isArray(values)) return `${parameter} has multipliers and so needs an enum`
    if (values.some(value => typeof value === 'object'))
      return `${parameter} has multipliers, so its values must be texts, numbers or booleans`
    const missing = values.find(value => !Object.hasOwn(table, String(value)))
    if (missing !== undefined) return `${parameter} ${missing} has no multiplier`
  }
  return findPriceFault(pricing, parametersSchema)
}

/** Without a price range, no client could list any model. */
const findPriceFault = (
  pricing: Endpoint['pricing'],
  parametersSchema: Endpoint['parametersSchema'],
): string | undefined => {
  const uncounted = pricing.quantities.find(name => !numbersOf(parametersSchema.properties[name]).every(isWholeMicros))
  if (uncounted) return `the numbers of ${uncounted} must be whole millionths up to ${MAX_COUNT}`
  let combinations = 1
  for (const parameter of pricedParameters(pricing)) {
    const values = extremes(parametersSchema, parameter)
    if (values.length === 0) return `${parameter} affects the price and so needs an enum, bounds or the type boolean`
    combinations *= values.length
  }
  if (combinations > MAX_COMBINATIONS)
    return `the parameters that affect its price have more than ${MAX_COMBINATIONS} combinations of values`
  return isExact(pricing, parametersSchema) ? undefined : 'its highest price is too large to represent exactly'
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
