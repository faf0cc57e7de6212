import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server'
import { asksForStream } from '../http/answers/streams.ts'
import type { Context } from '../http/context.ts'
import { checkedParams } from './checked-params.ts'
import { jsonHandler } from './json-handler.ts'
import { type Asker, createServer } from './server.ts'
import type { ToolDependencies } from './tool.ts'

/** The protocol, which the SDK implements. */
export interface Protocol {
  answer(ctx: Context, message: unknown): Promise<void>
  close(): Promise<void>
}

export const openProtocol = (dependencies: ToolDependencies): Protocol => {
  const { logger } = dependencies
  const open = (auth?: AuthInfo) => createServer(dependencies, auth?.extra as unknown as Asker)
  const handler = createMcpHandler(({ authInfo }) => open(authInfo), {
    // Most of these errors are the client's. Nothing else logs the others.
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
      // The SDK refuses clients that do not accept both content types.
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

/** The most characters of the SDK's error message, which repeats a part of the client's message. */
const MAX_REASON = 200
