import { escapePointer } from './document.ts'

export interface Content {
  schema: object
  examples?: Record<string, { value: unknown }>
}

export interface Operation {
  operationId: string
  tags: string[]
  description?: string
  security?: object[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, { headers?: object; content?: Record<string, Content>; $ref?: string }>
}

/** The parts of an OpenAPI document that tests use. */
export interface Document {
  openapi: string
  info: { title: string; version: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, { enum?: string[] }>
    responses: Record<string, { content: Record<string, Content> }>
  }
}

/** Every object in the document outside of examples, with its pointer. */
export function* objectsIn(
  value: unknown,
  pointer = '#',
): Generator<{ pointer: string; object: Record<string, unknown> }> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield { pointer, object: value as Record<string, unknown> }
  for (const [key, member] of Object.entries(value)) {
    const isValue = ['default', 'enum', 'value'].includes(key) || (key === 'examples' && Array.isArray(member))
    if (!isValue || pointer.endsWith('/properties')) yield* objectsIn(member, `${pointer}/${escapePointer(key)}`)
  }
}
