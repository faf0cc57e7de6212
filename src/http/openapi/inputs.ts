import type { ModelFamily } from '../../../schemas/api/model.ts'

/**
 * The schemas that depend on the catalog: the model IDs and the parameters of each endpoint. `RunRequest` has one
 * variant per model, so generated clients know the parameters of the model that they name.
 */
export const inputsOf = (families: ModelFamily[], schemas: Record<string, unknown>): Record<string, unknown> => {
  // Validators reject an empty enum or oneOf.
  if (families.length === 0) return {}
  const { ModelId, RunRequest } = schemas as { ModelId: object; RunRequest: { properties: { input: object } } }
  const { properties } = RunRequest
  // If the input allowed other properties, TypeScript would miss misspelled parameters.
  const { type, additionalProperties, ...input } = properties.input as Record<string, unknown>
  const endpoints = families.flatMap(family => family.endpoints)
  return {
    ModelId: { ...ModelId, enum: families.map(family => family.id) },
    RunRequest: { ...RunRequest, properties: { ...properties, input }, oneOf: families.map(requestOf) },
    ...Object.fromEntries(endpoints.map(endpoint => [nameOf(endpoint), parametersOf(endpoint)])),
  }
}

const requestOf = ({ id, name, endpoints }: ModelFamily) => {
  const inputs = endpoints.map(endpoint => ({ $ref: `#/components/schemas/${nameOf(endpoint)}` }))
  const input = inputs.length === 1 ? inputs[0] : { anyOf: inputs }
  return { title: name, type: 'object', properties: { model: { const: id }, input }, required: ['model', 'input'] }
}

/** openapi-typescript keeps parameters with a default optional only in a place named `parameters`. */
const nameOf = ({ id }: Endpoint) => `${id}.parameters`

const parametersOf = ({ description, parameters_schema }: Endpoint) => ({ description, ...parameters_schema })

type Endpoint = ModelFamily['endpoints'][number]
