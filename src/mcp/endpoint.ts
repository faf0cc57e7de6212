import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server'
import { askerOf, type Context } from '../http/context.ts'
import type { McpEndpoint } from '../http/routes/mcp.ts'
import type { Asker } from '../services/asker.ts'
import { allowOrigins } from './origins.ts'
import { readMessage } from './read-message.ts'
import { createServer } from './server.ts'
import type { Services } from './tool.ts'
import { toolCalledBy, tools } from './tools.ts'

export interface McpParts extends Services {
  /** What the service's own pages begin with; known only once the port is. */
  publicUrl(): string
  /** Other sites whose pages may call. */
  allowedOrigins: string[]
}

/** Model Context Protocol over Streamable HTTP, in both of its eras: every request is answered by itself, by its own key alone. */
export const openMcpEndpoint = ({ publicUrl, allowedOrigins, ...services }: McpParts): McpEndpoint => {
  const { logger } = services
  const handler = createMcpHandler(({ authInfo }) => createServer(services, authInfo?.extra?.['asker'] as Asker), {
    // Most of it is the client's fault; what is not has no other line than this.
    onerror: ({ message }) => logger.info({ reason: message.slice(0, MAX_REASON) }, 'an MCP request was not served'),
  })
  const answer = toNodeHandler(handler, {
    onerror: error => logger.error({ err: error }, 'an MCP request broke'),
  })
  return {
    tools,
    fromAllowedOrigin: allowOrigins(() => [...originsOf(publicUrl()), ...allowedOrigins]),
    answer: async ctx => {
      const message = await readMessage(ctx)
      if (message === undefined) return
      const tool = toolCalledBy(message)
      ctx.state.tool = tool?.name
      ctx.state.isRead = tool?.annotations.readOnlyHint ?? true
      const { accountId, keyId } = ctx.state.account
      // The SDK carries who asks as AuthInfo. It never looks at the token, so the secret itself is not passed on.
      const auth: AuthInfo = { token: keyId, clientId: accountId, scopes: [], extra: { asker: askerOf(ctx) } }
      const headers = { ...ctx.req.headers, host: 'localhost', accept: acceptedBy(ctx) }
      ctx.respond = false
      // It makes an address of what a client may send as it likes, and needs no more of it than that it is one.
      await answer({ method: 'POST', url: '/', headers, auth } as unknown as NodeIncomingMessageLike, ctx.res, message)
    },
    close: () => handler.close(),
  }
}

/** Characters of the SDK's words for what is wrong with a message, which repeat a part of it. */
const MAX_REASON = 200

/** The two types of answers must be named to the SDK; who takes anything, as curl says of itself, takes these (RFC 9110, 12.5.1). */
const acceptedBy = (ctx: Context): string => {
  const given = ctx.get('Accept')
  return given === '' || given === '*/*' ? 'application/json, text/event-stream' : given
}

/** Pages of the service may be open under each name that this machine has for itself. */
const originsOf = (publicUrl: string): string[] => {
  const { protocol, hostname, host, origin } = new URL(publicUrl)
  if (hostname !== 'localhost') return [origin]
  return ['localhost', '127.0.0.1', '[::1]'].map(name => `${protocol}//${host.replace(hostname, name)}`)
}
