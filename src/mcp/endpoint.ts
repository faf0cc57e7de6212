import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server'
import type { McpEndpoint } from '../http/routes/mcp.ts'
import { asksForStream } from '../http/streams.ts'
import { jsonHandler } from './json-handler.ts'
import { allowOrigins } from './origins.ts'
import { readMessage } from './read-message.ts'
import { unwrap } from './refusals.ts'
import { type Asker, createServer } from './server.ts'
import type { ToolParts } from './tool.ts'
import { toolCalledBy, tools } from './tools.ts'

export interface McpParts extends ToolParts {
  /** The base URL of the service's own pages; known only once the port is. */
  publicUrl(): string
  /** Other origins whose pages may call. */
  allowedOrigins: string[]
}

/** The Model Context Protocol over Streamable HTTP, without sessions: each request is authorized by its own API key. */
export const openMcpEndpoint = ({ publicUrl, allowedOrigins, ...parts }: McpParts): McpEndpoint => {
  const { logger, services } = parts
  const open = (auth?: AuthInfo) => createServer(parts, auth?.extra as unknown as Asker)
  const handler = createMcpHandler(({ authInfo }) => open(authInfo), {
    // Most of these are client errors. The rest is logged nowhere else.
    onerror: ({ message }) => logger.info({ reason: message.slice(0, MAX_REASON) }, 'MCP request refused'),
  })
  const failed = { onerror: (error: Error) => logger.error({ err: error }, 'MCP request failed unexpectedly') }
  const answers = {
    stream: toNodeHandler(handler, failed),
    json: toNodeHandler(jsonHandler(handler, open), failed),
  }
  return {
    tools,
    fromAllowedOrigin: allowOrigins(() => [...originsOf(publicUrl()), ...allowedOrigins]),
    answer: async ctx => {
      const message = await readMessage(ctx)
      if (message === undefined) return
      const tool = toolCalledBy(message)
      ctx.state.tool = tool?.name
      ctx.state.isRead = tool?.annotations.readOnlyHint ?? true
      const { caller, countAnswer, nextTurn } = ctx.state
      // Every message that calls no tool, such as initialize and tools/list, only describes the service.
      if (!tool) unwrap(await services.descriptors.protocol(caller))
      // The SDK passes the caller as AuthInfo. It never reads the token, so the secret is not passed on.
      const auth: AuthInfo = {
        token: caller.accountId,
        clientId: caller.accountId,
        scopes: [],
        extra: { caller, countAnswer, nextTurn },
      }
      const form = asksForStream(ctx) ? 'stream' : 'json'
      // The SDK refuses clients that do not accept both forms.
      const headers = { ...ctx.req.headers, host: 'localhost', accept: 'application/json, text/event-stream' }
      ctx.respond = false
      // The SDK builds a URL from the Host header, which clients control. Any valid URL will do.
      await answers[form](
        { method: 'POST', url: '/', headers, auth } as unknown as NodeIncomingMessageLike,
        ctx.res,
        message,
      )
    },
    close: () => handler.close(),
  }
}

/** Characters of the SDK's error message, which repeats a part of the client's. */
const MAX_REASON = 200

/** Pages of the service may be open under each local name of this machine. */
const originsOf = (publicUrl: string): string[] => {
  const { protocol, hostname, host, origin } = new URL(publicUrl)
  if (hostname !== 'localhost') return [origin]
  return ['localhost', '127.0.0.1', '[::1]'].map(name => `${protocol}//${host.replace(hostname, name)}`)
}
