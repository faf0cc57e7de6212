import { type Static, Type } from 'typebox'
import { Closed, OneOf } from '../primitives.ts'
import { about } from './about.ts'

/** What every OpenAPI document has; its own specification says the rest. */
export const OpenApi = Type.Object({
  openapi: Type.String({ pattern: '^3\\.1\\.\\d+$' }),
  info: Type.Object({ title: Type.String(), version: Type.String() }),
  paths: Type.Record(Type.String(), Type.Unknown()),
})

export const LlmsText = about(Type.String(), 'Markdown, in the form of https://llmstxt.org.')

export const DocsPage = about(Type.String(), 'HTML.')
export const DocsFile = about(Type.String(), 'A style sheet, a script, or the licences of scripts.')
export const DocsFileName = about(Type.String(), 'As the page or another file names it.', 'init.js')

/** What an agent is offered as a tool. */
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
  value: Type.String({ description: 'With variables in braces.' }),
  variables: Type.Record(Type.String(), Variable),
})

const Remote = Closed({
  type: OneOf('streamable-http'),
  url: Type.String(),
  supportedProtocolVersions: Type.Array(Type.String()),
  headers: Type.Array(RemoteHeader),
})

/**
 * How the MCP server is reached: the fields of a server card (SEP-2127, an experimental extension), and beside them what a card
 * leaves out.
 */
export const McpDescriptor = Closed({
  $schema: Type.Literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  name: Type.String({
    minLength: 3,
    maxLength: 200,
    pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$',
    description: 'Under the host of the service, written backwards.',
  }),
  title: Type.String({ minLength: 1, maxLength: 100 }),
  version: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.String({ minLength: 1, maxLength: 100 }),
  websiteUrl: Type.String(),
  remotes: Type.Array(Remote),
  transport: OneOf('streamable-http'),
  endpoint: Type.String(),
  authentication: Closed({
    required: Type.Boolean(),
    type: Type.Literal('http'),
    scheme: Type.Literal('bearer'),
    description: Type.String(),
  }),
  tools: Type.Array(ToolSummary),
})
export type McpDescriptor = Static<typeof McpDescriptor>
