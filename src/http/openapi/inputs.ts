import type { ModelFamily } from '../../../schemas/api/model.ts'

/**
 * What the catalog says of runs: the models that there are, and what each asks for. A request is one of as many as there are
 * models, so that clients that are generated know the parameters of the one that they name.
 */
export const inputsOf = (families: ModelFamily[], schemas: Record<string, unknown>): Record<string, unknown> => {
  // Neither an enum nor a choice of nothing is possible.
  if (families.length === 0) return {}
  const { ModelId, RunRequest } = schemas as { ModelId: object; RunRequest: { properties: { input: object } } }
  const { properties } = RunRequest
  // Where anything else were possible, TypeScript would not see that a parameter is misspelt.
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

/** openapi-typescript leaves parameters with a default optional only where their place is called so. */
const nameOf = ({ id }: Endpoint) => `${id}.parameters`

const parametersOf = ({ description, parameters_schema }: Endpoint) => ({ description, ...parameters_schema })

type Endpoint = ModelFamily['endpoints'][number]
