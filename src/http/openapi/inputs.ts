import type { ModelFamily } from '../../../schemas/api/model.ts'

/**
 * The schemas that depend on the catalog: the names of models and the parameters of each endpoint. `RunRequest` has one
 * variant per family and one per endpoint, so generated clients know the parameters of the model that they name.
 */
export const inputsOf = (families: ModelFamily[], schemas: Record<string, unknown>): Record<string, unknown> => {
  // Validators reject an empty enum or oneOf.
  if (families.length === 0) return {}
  const { ModelId, RunRequest } = schemas as { ModelId: object; RunRequest: { properties: { input: object } } }
  const { properties } = RunRequest
  // If the input allowed other properties, TypeScript would miss misspelled parameters.
  const { type, additionalProperties, ...input } = properties.input as Record<string, unknown>
  const endpoints = families.flatMap(family => family.endpoints)
  const variants = [...families.map(ofFamily), ...families.flatMap(ofEndpoints)]
  return {
    ModelId: { ...ModelId, enum: variants.flatMap(({ models }) => models) },
    RunRequest: { ...RunRequest, properties: { ...properties, input }, oneOf: variants.map(requestOf) },
    ...Object.fromEntries(endpoints.map(endpoint => [nameOf(endpoint), parametersOf(endpoint)])),
  }
}

interface Variant {
  title: string
  models: string[]
  endpoints: Endpoint[]
}

const ofFamily = ({ id, aliases, name, endpoints }: ModelFamily): Variant => ({
  title: name,
  models: [id, ...aliases],
  endpoints,
})

const ofEndpoints = ({ name, endpoints }: ModelFamily): Variant[] =>
  endpoints.map(endpoint => ({ title: `${name}, ${endpoint.kind}`, models: [endpoint.id], endpoints: [endpoint] }))

const requestOf = ({ title, models, endpoints }: Variant) => {
  const inputs = endpoints.map(endpoint => ({ $ref: `#/components/schemas/${nameOf(endpoint)}` }))
  const [model, ...aliases] = models
  const properties = {
    model: aliases.length === 0 ? { const: model } : { enum: models },
    input: inputs.length === 1 ? inputs[0] : { anyOf: inputs },
  }
  return { title, type: 'object', properties, required: ['model', 'input'] }
}

/** openapi-typescript keeps parameters with a default optional only in a place named `parameters`. */
const nameOf = ({ id }: Endpoint) => `${id}.parameters`

const parametersOf = ({ description, parameters_schema }: Endpoint) => ({ description, ...parameters_schema })

type Endpoint = ModelFamily['endpoints'][number]
