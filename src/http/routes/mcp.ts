import type Router from '@koa/router'
import {
  callExample,
  EventStream,
  JsonRpcAnswer,
  JsonRpcError,
  JsonRpcMessage,
  messageHeaders,
  oldCallExample,
} from '../../../schemas/api/mcp.ts'
import { asksForStream } from '../answers/streams.ts'
import type { RequestState } from '../context.ts'
import type { McpEndpoint } from '../dependencies.ts'
import { PROTOCOL_VERSIONS } from '../descriptions/mcp-descriptor.ts'
import { route } from '../route.ts'

const path = '/mcp'

const callMcp = route({
  id: 'callMcp',
  method: 'post',
  path,
  tag: 'Agents',
  summary: 'Call the MCP server',
  description: [
    'The API as tools of the Model Context Protocol (Streamable HTTP, no sessions),',
    `revisions ${PROTOCOL_VERSIONS.join(' and ')}.`,
    'An MCP client needs only this URL and the `Authorization` header.',
    'The response is one JSON document. Clients that name `text/event-stream` in `Accept` may get a stream instead,',
    'with the progress of a call.',
    'The result of a tool has the body of the API as `structuredContent`, a summary as text, and previews of pictures',
    'of at most 512 pixels.',
    'A failed tool call returns a result with `isError` set and the API error as its text.',
  ].join(' '),
  auth: 'key',
  streams: true,
  headers: messageHeaders,
  content: { 'application/json': JsonRpcMessage },
  examples: {
    'Tool call (2025-11-25)': oldCallExample,
    'Tool call (2026-07-28), with Mcp-Method, Mcp-Name and MCP-Protocol-Version': callExample,
  },
  responses: {
    200: {
      description: 'The response, on its own or as the last event.',
      shape: JsonRpcAnswer,
      content: { 'text/event-stream': EventStream },
    },
    202: { description: 'The message was accepted and gets no response.' },
    400: { description: 'The message is invalid, or breaks the rules of its revision.', shape: JsonRpcError },
    403: { description: 'The site of the calling page is not allowed.', shape: JsonRpcError },
    404: { description: 'The method does not exist (2026-07-28).', shape: JsonRpcError },
    500: { description: 'The service failed to process the message.', shape: JsonRpcError },
  },
  errors: ['unsupported_media_type', 'payload_too_large'],
  before: ({ mcp }) => [mcp.fromAllowedOrigin],
  serve: (ctx, { mcp, streams }) => {
    if (asksForStream(ctx)) streams.open(ctx)
    return mcp.answer(ctx)
  },
})

export const mcpRoutes = [callMcp]

/** Answers methods other than POST. */
export const refuseOtherMethods = (router: Router<RequestState>, mcp: McpEndpoint) => {
  // GET and DELETE would need sessions.
  router.all(path, mcp.fromAllowedOrigin, ctx => {
    ctx.set('Allow', 'POST')
    ctx.status = 405
  })
}
