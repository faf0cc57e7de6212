import { type Media, type Operation, type Parameter, resolved, type Schema, type Schemas } from './api-document.ts'

/** An example of a value: the one that its schema has, or one made of its parts. */
export const sampleOf = (schema: Schema, schemas: Schemas, depth = 0): unknown => {
  const {
    examples,
    default: usual,
    const: fixed,
    enum: values,
    type,
    properties,
    required,
    items,
    anyOf,
    oneOf,
  } = resolved(schema, schemas)
  const known = examples?.[0] ?? fixed ?? usual ?? values?.[0]
  if (known !== undefined) return known
  if (properties && depth < MAX_DEPTH)
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => required?.includes(name))
        .map(([name, property]) => [name, sampleOf(property, schemas, depth + 1)]),
    )
  if (type === 'array') return items && depth < MAX_DEPTH ? [sampleOf(items, schemas, depth + 1)] : []
  const [choice] = anyOf ?? oneOf ?? []
  if (choice && depth < MAX_DEPTH) return sampleOf(choice, schemas, depth + 1)
  return { string: '…', integer: 1, number: 1, boolean: true, object: {} }[String(type)] ?? null
}

/** Schemas may contain themselves. */
const MAX_DEPTH = 6

/** A named example of a body. */
export interface Example {
  name: string
  value: unknown
}

/** The examples of a body, at least one. */
export const examplesOf = ({ examples, schema }: Media, schemas: Schemas): Example[] => {
  const named = Object.entries(examples ?? {}).map(([name, { summary, value }]) => ({ name: summary ?? name, value }))
  return named.length > 0 ? named : [{ name: 'Example', value: sampleOf(schema, schemas) }]
}

/** The path of an operation with examples in its place holders. */
export const samplePath = ({ path, parameters }: Operation, schemas: Schemas): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    sampleText(
      parameters.find(of => of.name === name),
      schemas,
    ),
  )

/** The query parameters that a request must have. */
export const sampleQuery = ({ parameters }: Operation, schemas: Schemas): string => {
  const needed = parameters.filter(of => of.in === 'query' && of.required)
  return new URLSearchParams(needed.map((of): [string, string] => [of.name, sampleText(of, schemas)])).toString()
}

const sampleText = (parameter: Parameter | undefined, schemas: Schemas): string =>
  parameter ? String(sampleOf(parameter.schema, schemas)) : '…'
