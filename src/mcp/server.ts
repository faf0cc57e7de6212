import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
  type Tool as ToolListed,
} from '@modelcontextprotocol/server'
import { clientSchema } from '../http/openapi/client-schema.ts'
import { about } from './direct-call.ts'
import { outline } from './outline.ts'
import type { Call, Tool, ToolDependencies } from './tool.ts'
import { toolNamed, tools } from './tools.ts'

const FIND_MODELS =
  'Find a model with list_models and brief: true. Call it again with the ID as model for the parameters.'

/** For keys that may run models. */
const INSTRUCTIONS = [
  'Runs image, video, audio and text models, and charges credits to the account that owns the API key.',
  FIND_MODELS,
  'quote_run returns the price of a run.',
  'run_model spends credits: a run is charged when it is accepted, and refunded in full if it fails.',
  'All other tools cost nothing.',
  'A run that takes longer than the call continues; get_run returns its result.',
  'A failed run is a result with the status failed and an error.',
  'Use a new idempotency_key for each run. If a response is lost, repeat the call with the same key.',
  'Result files are deleted at output.will_delete_at. Anyone with the URL of a file can read the file.',
].join('\n')

/** For keys that only read. */
const READ_INSTRUCTIONS = [
  'Shows the models, runs, credits and usage of the account that owns the API key, which may only read.',
  FIND_MODELS,
  'quote_run returns the price of a run. No tool costs anything.',
].join('\n')

/** The tools depend on the scope of the key, and change only with a new version. */
const OF_KEY = { ttlMs: 3_600_000, cacheScope: 'private' } as const

const optionsWith = (instructions: string): ServerOptions => ({
  capabilities: { tools: { listChanged: false } },
  instructions,
  cacheHints: { 'tools/list': OF_KEY, 'server/discover': OF_KEY },
})

const toListed = ({ name, title, description, input, output, annotations }: Tool) => ({
  name,
  title,
  description,
  annotations,
  inputSchema: clientSchema(input) as ToolListed['inputSchema'],
  outputSchema: clientSchema(outline(output)) as NonNullable<ToolListed['outputSchema']>,
})

/** The tools and instructions for most keys, and for keys that only read, without tools that would refuse the key. */
const shownToAll = { tools: tools.map(toListed), options: optionsWith(INSTRUCTIONS) }
const shownToReaders = {
  tools: tools.filter(({ annotations }) => annotations.readOnlyHint).map(toListed),
  options: optionsWith(READ_INSTRUCTIONS),
}

/** The caller of a request, the counter of its result, and the turns of its account. */
export type Asker = Pick<Call, 'caller' | 'countAnswer' | 'nextTurn'>

/**
 * A server for one request of one account. The SDK's low-level server leaves the argument checks to the tools, whose
 * errors match the API's, and needs no registration of tools for each request.
 */
export const createServer = (dependencies: ToolDependencies, asker: Asker): Server => {
  const { caller } = asker
  const shown = caller.kind === 'key' && caller.scope === 'read' ? shownToReaders : shownToAll
  const server = new Server(about(dependencies), shown.options)
  server.setRequestHandler('tools/list', () => ({ tools: shown.tools }))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const tool = toolNamed(params.name)
    if (!tool)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${JSON.stringify(params.name)}.`)
    const call: Call = { ...dependencies, ...asker, signal: mcpReq.signal, notify: notifierOf(mcpReq) }
    return tool.call(params.arguments ?? {}, call)
  })
  return server
}

/** The limit for a progress token, in characters. Each notification repeats it. */
const MAX_TOKEN_LENGTH = 1000

const notifierOf = ({ _meta, notify }: ServerContext['mcpReq']): Call['notify'] => {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined || String(progressToken).length > MAX_TOKEN_LENGTH) return undefined
  return (progress, message) => {
    const params = { progressToken, progress, total: 100, message }
    // A notification fails only if the client has disconnected.
    notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}
