/** The parts of an OpenAPI document that pages show. */
export interface ApiDocument {
  tags: readonly { name: string; description: string }[]
  paths: Record<string, Record<string, OperationObject>>
  webhooks: Record<string, Record<string, OperationObject>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    headers: Record<string, Header>
    responses: Record<string, Response>
  }
}

export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  title?: string
  description?: string
  const?: unknown
  enum?: readonly unknown[]
  default?: unknown
  examples?: readonly unknown[]
  properties?: Record<string, Schema>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  [keyword: string]: unknown
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
}

export interface Header {
  required: boolean
  description?: string
  schema: Schema
}

export interface Media {
  schema: Schema
  examples?: Record<string, { summary?: string; value: unknown }>
}

export interface Response {
  description: string
  headers?: Record<string, Header>
  content?: Record<string, Media>
}

type Referable<Value> = Value | { $ref: string }

interface OperationObject {
  operationId: string
  tags: readonly string[]
  summary: string
  description: string
  parameters: readonly Referable<Parameter>[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Referable<Response>>
}

/** An operation or webhook without references except to schemas. */
export interface Operation {
  id: string
  /** In capitals. */
  method: string
  /** The path of a request, or the type of a webhook. */
  path: string
  isWebhook: boolean
  tag: string
  summary: string
  description: string
  parameters: readonly Parameter[]
  body: Record<string, Media>
  responses: readonly (Response & { status: string })[]
}

/** The operations of a document in its order, and then its webhooks. */
export const operationsOf = ({ paths, webhooks, components }: ApiDocument): Operation[] => {
  const all = (group: ApiDocument['paths'], isWebhook: boolean) =>
    Object.entries(group).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, of]) => ({
        id: of.operationId,
        method: method.toUpperCase(),
        path,
        isWebhook,
        tag: of.tags[0] ?? '',
        summary: of.summary,
        description: of.description,
        parameters: of.parameters.map(parameter => found(parameter, components.parameters)),
        body: of.requestBody?.content ?? {},
        responses: Object.entries(of.responses).map(([status, response]) => {
          const { headers = {}, ...rest } = found(response, components.responses)
          const shown = Object.entries(headers).map(([name, header]) => [name, found(header, components.headers)])
          return { status, ...rest, headers: Object.fromEntries(shown) }
        }),
      })),
    )
  return [...all(paths, false), ...all(webhooks, true)]
}

const nameIn = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)

const found = <Value extends object>(value: Referable<Value>, among: Record<string, Value>): Value =>
  '$ref' in value && typeof value.$ref === 'string' ? (among[nameIn(value.$ref)] as Value) : (value as Value)

/** The name of the schema that a schema refers to. */
export const referenceOf = ({ $ref }: Schema): string | undefined => ($ref === undefined ? undefined : nameIn($ref))

export type Schemas = Record<string, Schema>

/** A schema without a reference at its top, and with the parts of an `allOf` in one. */
export const resolved = (schema: Schema, schemas: Schemas): Schema => {
  const { $ref, allOf, ...own } = schema
  const parts = [...($ref === undefined ? [] : [schemas[nameIn($ref)] ?? {}]), ...(allOf ?? [])]
  return parts.map(part => resolved(part, schemas)).reduceRight((whole, part) => merged(part, whole), own)
}

const merged = (one: Schema, other: Schema): Schema => ({
  ...one,
  ...other,
  ...((one.properties || other.properties) && { properties: mergedProperties(one.properties, other.properties) }),
})

const mergedProperties = (one: Schemas = {}, other: Schemas = {}): Schemas => {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(names.map(name => [name, both(one[name], other[name])]))
}

/** References stay apart, since a merged copy would lose its name. */
const both = (one: Schema | undefined, other: Schema | undefined): Schema => {
  if (!one || !other) return one ?? other ?? {}
  return Object.keys(other).length === 0 ? one : { ...(one.$ref === undefined ? one : {}), ...other }
}
