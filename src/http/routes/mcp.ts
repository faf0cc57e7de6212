import type Router from '@koa/router'
import type { ToolSummary } from '../../../schemas/api/descriptors.ts'
import {
  callExample,
  EventStream,
  JsonRpcAnswer,
  JsonRpcError,
  JsonRpcMessage,
  messageHeaders,
  oldCallExample,
} from '../../../schemas/api/mcp.ts'
import type { Context, Middleware, RequestState } from '../context.ts'
import { PROTOCOL_VERSIONS } from '../mcp-descriptor.ts'
import { operation, type Serve } from '../operation.ts'

/** Whoever speaks MCP. */
export interface McpEndpoint {
  tools: ToolSummary[]
  /** Lets only those pages in that may call, and answers what their browser asks beforehand. */
  fromAllowedOrigin: Middleware
  /** Reads a message and answers it. */
  answer(ctx: Context): Promise<void>
  /** To be called when nobody is answered any more. */
  close(): Promise<void>
}

const path = '/mcp'

const callMcp = operation({
  id: 'callMcp',
  method: 'post',
  path,
  tag: 'Agents',
  summary: 'Model Context Protocol: the API as tools for agents',
  description: `Streamable HTTP without sessions, by the revisions ${PROTOCOL_VERSIONS.join(' and ')}. An MCP client does this for you: give it the address and the header \`Authorization\`. \`Accept\` must name \`application/json\` and \`text/event-stream\`, or be \`*/*\`; the answer may be either. A tool that refuses answers with a result that has \`isError\`, and the error of the API as its text.`,
  streams: true,
  headers: messageHeaders,
  content: { 'application/json': JsonRpcMessage },
  examples: {
    'A call of a tool (2025-11-25)': oldCallExample,
    'A call of a tool (2026-07-28), with Mcp-Method, Mcp-Name and MCP-Protocol-Version': callExample,
  },
  answers: {
    200: {
      description: 'The answer, by itself or as the last of the events.',
      shape: JsonRpcAnswer,
      content: { 'text/event-stream': EventStream },
    },
    202: { description: 'A message that is not answered was taken.' },
    400: { description: 'It is no message, or not as its revision has it.', shape: JsonRpcError },
    403: { description: 'The page that called may not.', shape: JsonRpcError },
    404: { description: 'There is no such method (2026-07-28).', shape: JsonRpcError },
    406: { description: '`Accept` lacks a type (2025-11-25).', shape: JsonRpcError },
    500: { description: 'Something broke.', shape: JsonRpcError },
  },
  errors: ['unsupported_media_type', 'payload_too_large'],
})

export const mcpOperations = [callMcp]

export const mcpRoutes = (router: Router<RequestState>, serve: Serve, mcp: McpEndpoint) => {
  serve(callMcp, mcp.fromAllowedOrigin, mcp.answer)
  // There are no sessions to be followed or ended.
  router.all(path, mcp.fromAllowedOrigin, ctx => {
    ctx.set('Allow', 'POST')
    ctx.status = 405
  })
}
