import { isLegacyRequest, type McpHttpHandler, ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/server'
import { visible } from '../domain/visible-text.ts'
import { toPointerPart } from '../services/schema-check.ts'

type Fetch = McpHttpHandler['fetch']

/** The requests whose parameters only the SDK reads. */
const read = {
  initialize: specTypeSchemas.InitializeRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
}

/** Refuses malformed parameters. The SDK would respond with an internal error, although the client is at fault. */
export const checkedParams = (handler: { fetch: Fetch }): { fetch: Fetch } => ({
  fetch: async (request, given = {}) => {
    const { method, id } = given.parsedBody as { method?: unknown; id?: unknown }
    if (!isRead(method) || id === undefined) return handler.fetch(request, given)
    // Later revisions have no method `initialize`: the SDK refuses it.
    if (method === 'initialize' && !(await isLegacyRequest(request, given.parsedBody)))
      return handler.fetch(request, given)
    const { issues } = await read[method]['~standard'].validate(given.parsedBody)
    const [first, ...path] = (issues?.[0]?.path ?? []).map(part => (typeof part === 'object' ? part.key : part))
    // The SDK refuses messages with other faults.
    if (!issues?.[0] || first !== 'params' || path[0] === '_meta') return handler.fetch(request, given)
    return Response.json({ jsonrpc: '2.0', id, error: invalidParams(path, issues[0].message) })
  },
})

const isRead = (method: unknown): method is keyof typeof read =>
  typeof method === 'string' && Object.hasOwn(read, method)

const invalidParams = (path: PropertyKey[], fault: string) => {
  const place = path
    .map(part => `/${toPointerPart(String(part))}`)
    .join('')
    .slice(0, MAX_PLACE)
  const message = visible(fault)
    .replace(/^Invalid input: /, '')
    .slice(0, MAX_FAULT)
  return {
    code: ProtocolErrorCode.InvalidParams,
    message: `Invalid params: ${place === '' ? '' : `${place}: `}${message}.`,
    data: { errors: [{ path: place, message }] },
  }
}

/** Limits in characters, because the path and the message of the SDK can repeat names that the client sent. */
const MAX_PLACE = 200
const MAX_FAULT = 200
