import type { Family, ParametersSchema } from '../../../schemas/catalog.ts'
import { MAX_JSON_DEPTH } from '../../../schemas/primitives.ts'
import type { FamilyFault } from '../../domain/catalog/validity.ts'
import { compileFault } from '../schema-check.ts'
import { isPortable, patternsIn } from './portable-pattern.ts'

/** Why the inputs of a family cannot be checked; undefined if they can. The reason is in the words of the validator. */
export const findSchemaFault = ({ endpoints }: Family): FamilyFault | undefined => {
  for (const { id, parametersSchema } of endpoints) {
    const reason = endpointFault(parametersSchema)
    if (reason !== undefined) return { id, code: 'schema_unusable', reason }
  }
  return undefined
}

const endpointFault = (schema: ParametersSchema): string | undefined => {
  for (const [name, declared] of Object.entries(schema.properties)) {
    const fault = partFault({ type: 'object', properties: { [name]: declared } })
    if (fault !== undefined) return `of ${name} ${fault}`
  }
  return partFault(schema)
}

const partFault = (schema: object): string | undefined => {
  if (!isNestedWithin(MAX_JSON_DEPTH, schema)) return `is nested deeper than ${MAX_JSON_DEPTH} levels`
  const word = foreignWord(schema)
  if (word !== undefined) return `may not use ${word}, because other documents contain it`
  const fault = compileFault(schema)
  if (fault !== undefined) return `is not valid: ${fault}`
  const pattern = patternsIn(schema).find(pattern => !isPortable(pattern))
  return pattern && `may not use the pattern ${pattern}, because clients in other languages read it differently`
}

/**
 * A keyword that has another meaning inside another document, such as the OpenAPI document. `$async` would even make a
 * validator accept every input.
 */
const foreignWord = (schema: object): string | undefined => /"(\$(?!comment")\w+)":/.exec(JSON.stringify(schema))?.[1]

/** Whether the objects and lists of a JSON value are nested in no more than so many levels. */
export const isNestedWithin = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every(each => isNestedWithin(levels - 1, each)))
