import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
  type Tool as ToolListed,
} from '@modelcontextprotocol/server'
import { info } from '../http/api-info.ts'
import type { Asker } from '../services/asker.ts'
import type { Call, Services } from './tool.ts'
import { toolNamed, tools } from './tools.ts'

const INSTRUCTIONS = `Runs image, video, audio and text models, and charges credits to the account that the API key belongs to.
Find a model with list_models, call it again with that id as model for its parameters, and ask quote_run for the price.
run_model spends credits: they are debited when a run is accepted and given back in full when it fails. All else costs nothing.
A run that was not waited for goes on; get_run shows how it ends. A failed run is a result with the status failed and an error.
Give each run an idempotency_key of its own, and repeat a call whose answer was lost with the same key.
Results are deleted at output.will_delete_at; their addresses can be read by anybody who has them.`

/** The tools are the same for everybody, and change with a new version only. */
const SHARED = { ttlMs: 3_600_000, cacheScope: 'public' } as const

const about = { name: 'tollgate', title: info.title, version: info.version }

const options: ServerOptions = {
  capabilities: { tools: { listChanged: false } },
  instructions: INSTRUCTIONS,
  cacheHints: { 'tools/list': SHARED, 'server/discover': SHARED },
}

const listed = tools.map(({ name, title, description, input, output, annotations }) => ({
  ...{ name, title, description, annotations },
  inputSchema: input as unknown as ToolListed['inputSchema'],
  outputSchema: output as unknown as NonNullable<ToolListed['outputSchema']>,
}))

/**
 * A server for one request of one account. It is the SDK's lower one, since arguments are checked and refused here as on the
 * API; with it, nothing is registered anew for each request either.
 */
export const createServer = (services: Services, asker: Asker): Server => {
  const server = new Server(about, options)
  server.setRequestHandler('tools/list', () => ({ tools: listed }))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const tool = toolNamed(params.name)
    if (!tool)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${JSON.stringify(params.name)}.`)
    const call: Call = { ...services, asker, signal: mcpReq.signal, tell: teller(mcpReq) }
    return tool.call(params.arguments ?? {}, call)
  })
  return server
}

/** Characters of what a client calls a call. It is sent back with each notice. */
const MAX_TOKEN_LENGTH = 1000

const teller = ({ _meta, notify }: ServerContext['mcpReq']): Call['tell'] => {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined || String(progressToken).length > MAX_TOKEN_LENGTH) return undefined
  return (progress, message) => {
    const params = { progressToken, progress, total: 100, message }
    // Nobody needs to know of it who has hung up.
    notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}
