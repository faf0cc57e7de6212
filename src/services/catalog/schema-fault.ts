import type { Family, ParametersSchema } from '../../../schemas/catalog.ts'
import { compileFault } from '../schema-check.ts'

/** Why the inputs of a family cannot be checked, in words for the operator; undefined if they can. */
export const schemaFault = ({ endpoints }: Family): string | undefined => {
  for (const { id, parametersSchema } of endpoints) {
    const fault = endpointFault(parametersSchema)
    if (fault !== undefined) return `${id}: the schema ${fault}`
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
  const word = foreignWord(schema)
  if (word !== undefined) return `may not use ${word}, because other documents contain it`
  const fault = compileFault(schema)
  return fault && `is not valid: ${fault}`
}

/**
 * A keyword that has another meaning inside another document, such as the OpenAPI document. `$async` would even make a
 * validator accept every input.
 */
const foreignWord = (schema: object): string | undefined => /"(\$(?!comment")\w+)":/.exec(JSON.stringify(schema))?.[1]
