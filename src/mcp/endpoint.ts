import type { McpEndpoint } from '../http/dependencies.ts'
import { answerDirectly, directCallOf } from './direct-call.ts'
import { withoutNullArguments } from './loose-arguments.ts'
import { allowOrigins } from './origins.ts'
import type { Protocol } from './protocol.ts'
import { readMessage } from './read-message.ts'
import { unwrap } from './refusals.ts'
import type { ToolDependencies } from './tool.ts'
import { toolCalledBy, tools } from './tools.ts'

export interface McpDependencies extends ToolDependencies {
  /** The base URL of the service's own pages, which is unknown until the server listens on a port. */
  publicUrl(): string
  /** Other origins whose pages may call the endpoint. */
  allowedOrigins: string[]
}

/** The Model Context Protocol over Streamable HTTP, without sessions: each request is authorized by its own API key. */
export const openMcpEndpoint = ({ publicUrl, allowedOrigins, ...dependencies }: McpDependencies): McpEndpoint => {
  let protocol: Promise<Protocol> | undefined
  // The SDK takes a large part of a process's start-up time, so it is loaded after the start.
  const opened = () => {
    protocol ??= import('./protocol.ts').then(({ openProtocol }) => openProtocol(dependencies))
    return protocol
  }
  return {
    tools,
    fromAllowedOrigin: allowOrigins(() => [...originsOf(publicUrl()), ...allowedOrigins]),
    answer: async ctx => {
      const message = withoutNullArguments(await readMessage(ctx))
      if (message === undefined) return
      const tool = toolCalledBy(message)
      ctx.state.tool = tool?.name
      ctx.state.isRead = tool?.annotations.readOnlyHint ?? true
      // Every message that calls no tool, such as initialize and tools/list, only describes the service.
      if (!tool) unwrap(await dependencies.services.descriptors.protocol(ctx.state.caller))
      const direct = directCallOf(ctx, message)
      if (direct) await answerDirectly(ctx, direct, dependencies)
      else await (await opened()).answer(ctx, message)
    },
    close: async () => (await protocol)?.close(),
  }
}

/** The origins of the service's own pages. A browser may open them under any local name of this machine. */
const originsOf = (publicUrl: string): string[] => {
  const { protocol, hostname, host, origin } = new URL(publicUrl)
  if (hostname !== 'localhost') return [origin]
  return ['localhost', '127.0.0.1', '[::1]'].map(name => `${protocol}//${host.replace(hostname, name)}`)
}
