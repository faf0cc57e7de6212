import { asksForStream } from '../http/answers/streams.ts'
import { disconnectSignal } from '../http/connections/disconnect.ts'
import type { Context } from '../http/context.ts'
import { info } from '../http/descriptions/api-info.ts'
import type { Tool, ToolDependencies } from './tool.ts'
import { toolCalledBy } from './tools.ts'

/** The name and version of this server in answers. */
export const about = ({ brand }: Pick<ToolDependencies, 'brand'>) => ({
  name: 'tollgate',
  title: brand.name,
  version: info.version,
})

/** A call that the SDK need not answer. `isOld` if the message is in the older of the two revisions. */
interface DirectCall {
  id: string | number
  tool: Tool
  args: Record<string, unknown>
  isOld: boolean
}

const OLD = '2025-11-25'
const PRESENT = '2026-07-28'
const META = 'io.modelcontextprotocol/'

/**
 * The call of a read-only tool, if the message has the form that clients usually send in one of the two revisions;
 * undefined for every other message, which the SDK answers. The SDK takes ten times as long as most tools. A call that
 * may take long needs the SDK, which sends the headers of a stream at once.
 */
export const directCallOf = ({ req: { headers } }: Context, message: unknown): DirectCall | undefined => {
  const tool = toolCalledBy(message)
  if (!tool?.annotations.readOnlyHint) return undefined
  const { jsonrpc, id, method, params, ...others } = message as Record<string, unknown>
  const { name, arguments: args = {}, _meta: meta, ...further } = params as Record<string, unknown>
  const isPlain = jsonrpc === '2.0' && isId(id) && isObject(args) && isEmpty(others) && isEmpty(further)
  if (!isPlain || (meta !== undefined && !isPresentMeta(meta))) return undefined
  const isOld = meta === undefined
  const version = headers['mcp-protocol-version']
  const expected = isOld
    ? { 'mcp-protocol-version': version === undefined ? undefined : OLD }
    : { 'mcp-protocol-version': PRESENT, 'mcp-method': method, 'mcp-name': name }
  const ofProtocol = Object.entries(headers).filter(([header]) => header.startsWith('mcp-'))
  const named = Object.entries(expected).filter(([, value]) => value !== undefined)
  const isExpected = ofProtocol.length === named.length && named.every(([header, value]) => headers[header] === value)
  return isExpected ? { id, tool, args, isOld } : undefined
}

/** Answers as the SDK would. */
export const answerDirectly = async (ctx: Context, direct: DirectCall, dependencies: ToolDependencies) => {
  const { id, tool, args, isOld } = direct
  const { caller, countAnswer, nextTurn } = ctx.state
  const signal = disconnectSignal(ctx)
  const called = await tool.call(args, { ...dependencies, caller, countAnswer, nextTurn, signal, notify: undefined })
  const result = isOld
    ? called
    : { ...called, resultType: 'complete', _meta: { [`${META}serverInfo`]: about(dependencies) } }
  const text = JSON.stringify({ result, jsonrpc: '2.0', id })
  const isStream = isOld && asksForStream(ctx)
  ctx.set(isStream ? STREAM_HEADERS : JSON_HEADERS)
  ctx.body = isStream ? `event: message\ndata: ${text}\n\n` : text
}

const JSON_HEADERS = { 'Content-Type': 'application/json' }
const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmpty = (object: object): boolean => Object.keys(object).length === 0

/** Whether `_meta` has the usual form: the present revision, and a client and capabilities without details. */
const isPresentMeta = (meta: unknown): boolean => {
  if (!isObject(meta) || Object.keys(meta).length !== 3 || meta[`${META}protocolVersion`] !== PRESENT) return false
  const { [`${META}clientInfo`]: client, [`${META}clientCapabilities`]: capabilities } = meta
  if (!isObject(client) || !isObject(capabilities)) return false
  const { name, version, title = '', ...others } = client
  const isNamed = [name, version, title].every(text => typeof text === 'string') && isEmpty(others)
  return isNamed && Object.values(capabilities).every(capability => isObject(capability) && isEmpty(capability))
}
