import { type Static, Type } from 'typebox'
import { Closed, OneOf, Url } from '../primitives.ts'
import { about } from './about.ts'

/** The required parts of an OpenAPI document; the OpenAPI specification defines the rest. */
export const OpenApi = Type.Object({
  openapi: Type.String({ pattern: '^3\\.1\\.[0-9]+$' }),
  info: Type.Object({ title: Type.String(), version: Type.String() }),
  paths: Type.Record(Type.String(), Type.Unknown()),
})

export const LlmsText = about(Type.String(), 'Markdown in the https://llmstxt.org format.')

/** The parts of a tool that its listing shows. */
export const ToolSummary = Closed({ name: Type.String(), title: Type.String(), description: Type.String() })
export type ToolSummary = Static<typeof ToolSummary>

const Variable = Closed({
  description: Type.String(),
  isRequired: Type.Boolean(),
  isSecret: Type.Boolean(),
})

const RemoteHeader = Closed({
  name: Type.String(),
  description: Type.String(),
  isRequired: Type.Boolean(),
  isSecret: Type.Boolean(),
  value: Type.String({ description: 'The header value, with variables in braces.' }),
  variables: Type.Record(Type.String(), Variable),
})

const Remote = Closed({
  type: OneOf('streamable-http'),
  url: Url,
  supportedProtocolVersions: Type.Array(Type.String()),
  headers: Type.Array(RemoteHeader),
})

/** How to reach the MCP server: a server card (SEP-2127, an experimental extension), plus fields that cards lack. */
export const McpDescriptor = Closed({
  $schema: Type.Literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  name: Type.String({
    minLength: 3,
    maxLength: 200,
    pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$',
    description: 'The reversed host name of the service, a slash, and the server name.',
  }),
  title: Type.String({ minLength: 1, maxLength: 100 }),
  version: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.String({ minLength: 1, maxLength: 100 }),
  websiteUrl: Url,
  remotes: Type.Array(Remote),
  transport: OneOf('streamable-http'),
  endpoint: Url,
  authentication: Closed({
    required: Type.Boolean(),
    type: Type.Literal('http'),
    scheme: Type.Literal('bearer'),
    description: Type.String(),
  }),
  tools: Type.Array(ToolSummary),
})
export type McpDescriptor = Static<typeof McpDescriptor>
