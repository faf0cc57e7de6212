import type { Endpoint, Family } from '../../../schemas/catalog.ts'
import { pricedParameters } from './pricing.ts'

/** A fault that the schema cannot express. `id` is that of the faulty family or endpoint. */
export type FamilyFault = { id: string } & (
  | { code: 'name_taken'; name: string }
  | { code: 'kind_repeated' }
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
  | { code: 'multiplier_missing'; parameter: string; value: string }

/** The first fault of a family; undefined if it is valid. */
export const findFault = (family: Family, others: Family[]): FamilyFault | undefined => {
  const taken = new Set(others.flatMap(other => [other.id, ...other.aliases]))
  const clash = [family.id, ...family.aliases].find(name => taken.has(name))
  if (clash) return { id: family.id, code: 'name_taken', name: clash }
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
  const unknown = pricedParameters(pricing).find(parameter => !parametersSchema.properties[parameter])
  if (unknown) return { code: 'parameter_unknown', parameter: unknown }
  const uncountable = pricing.quantities.find(parameter => !isCountable(parametersSchema.properties[parameter] ?? {}))
  if (uncountable) return { code: 'quantity_uncountable', parameter: uncountable }
  for (const [parameter, table] of Object.entries(pricing.multipliers)) {
    const values = parametersSchema.properties[parameter]?.['enum']
    if (!Array.isArray(values)) return { code: 'values_not_listed', parameter }
    const missing = values.map(String).find(value => table[value] === undefined)
    if (missing !== undefined) return { code: 'multiplier_missing', parameter, value: missing }
  }
  return undefined
}

const isCountable = ({ type, minimum, maximum, multipleOf }: Record<string, unknown>): boolean =>
  typeof minimum === 'number' &&
  minimum > 0 &&
  typeof maximum === 'number' &&
  (type === 'integer' || typeof multipleOf === 'number')
