import type { Endpoint, Family } from '../../../schemas/catalog.ts'
import { pricedParameters } from './pricing.ts'

/** A fault that the schema cannot express, in words for the operator; undefined if the family is valid. */
export const findFault = (family: Family, others: Family[]): string | undefined => {
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
  const unknown = pricedParameters(pricing).find(parameter => !parametersSchema.properties[parameter])
  if (unknown) return `the price depends on ${unknown}, which is not a parameter`
  const uncountable = pricing.quantities.find(parameter => !isCountable(parametersSchema.properties[parameter] ?? {}))
  if (uncountable) return `${uncountable} is a quantity and so needs a minimum above 0, a maximum, and whole millionths`
  for (const [parameter, table] of Object.entries(pricing.multipliers)) {
    const values = parametersSchema.properties[parameter]?.['enum']
    if (!Array.isArray(values)) return `${parameter} has multipliers and so needs an enum`
    const missing = values.find(value => table[String(value)] === undefined)
    if (missing !== undefined) return `${parameter} ${missing} has no multiplier`
  }
  return undefined
}

const isCountable = ({ type, minimum, maximum, multipleOf }: Record<string, unknown>): boolean =>
  typeof minimum === 'number' &&
  minimum > 0 &&
  typeof maximum === 'number' &&
  (type === 'integer' || typeof multipleOf === 'number')
