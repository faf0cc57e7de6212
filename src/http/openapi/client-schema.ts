import { isNameShape } from '../../../schemas/names.ts'

/** The pattern that TypeBox writes for a record. */
const ANY_NAME = '^.*$'

/** The keywords of a shape for clients, who do not know the formats of names. */
export const clientKeywords = (shape: object): [keyword: string, value: unknown][] =>
  Object.entries(shape).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword === 'format' && isNameShape({ format: value })) return []
    // Client generators understand additionalProperties better than a pattern for any name.
    if (keyword === 'patternProperties' && ANY_NAME in value) return [['additionalProperties', value[ANY_NAME]]]
    return [[keyword, value]]
  })

/** A shape as clients see it outside of the OpenAPI document, without references. */
export const clientSchema = (shape: object): Record<string, unknown> =>
  Object.fromEntries(clientKeywords(shape).map(([keyword, value]) => [keyword, clientMember(keyword, value)]))

const clientMember = (keyword: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || keyword === 'examples') return value
  return Array.isArray(value) ? value.map(item => clientMember('', item)) : clientSchema(value)
}
