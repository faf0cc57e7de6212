import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server'
import { asksForStream } from '../http/answers/streams.ts'
import type { Context } from '../http/context.ts'
import { checkedParams } from './checked-params.ts'
import { jsonHandler } from './json-handler.ts'
import { type Asker, createServer } from './server.ts'
import type { ToolDependencies } from './tool.ts'

/** The protocol, as the SDK speaks it. */
export interface Protocol {
  answer(ctx: Context, message: unknown): Promise<void>
  close(): Promise<void>
}

export const openProtocol = (dependencies: ToolDependencies): Protocol => {
  const { logger } = dependencies
  const open = (auth?: AuthInfo) => createServer(dependencies, auth?.extra as unknown as Asker)
  const handler = createMcpHandler(({ authInfo }) => open(authInfo), {
    // Most of these are client errors. The rest is logged nowhere else.
    onerror: ({ message }) => logger.info({ reason: message.slice(0, MAX_REASON) }, 'MCP request refused'),
  })
  const failed = { onerror: (error: Error) => logger.error({ err: error }, 'MCP request failed unexpectedly') }
  const answers = {
    stream: toNodeHandler(checkedParams(handler), failed),
    json: toNodeHandler(checkedParams(jsonHandler(handler, open)), failed),
  }
  return {
    answer: async (ctx, message) => {
      const { caller, countAnswer, nextTurn } = ctx.state
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
