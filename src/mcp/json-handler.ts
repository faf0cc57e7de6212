import {
  isLegacyRequest,
  type McpHandlerRequestOptions,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'

type Fetch = McpHttpHandler['fetch']

/**
 * Responds to every request with a single JSON document, for clients that read no event streams. The SDK's own handler
 * streams every response to clients of revisions before 2026. To later clients, it streams responses with progress.
 */
export const jsonHandler = (
  handler: Pick<McpHttpHandler, 'fetch'>,
  createServer: (auth: McpHandlerRequestOptions['authInfo']) => Server,
): { fetch: Fetch } => ({
  fetch: async (request, given = {}) => {
    const options = { ...given, parsedBody: withoutProgress(given.parsedBody) }
    if (!(await isLegacyRequest(request, options.parsedBody))) return handler.fetch(request, options)
    const server = createServer(options.authInfo)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    const disconnected = new Promise<Response>(resolve =>
      request.signal.addEventListener('abort', () => resolve(new Response(null)), { once: true }),
    )
    try {
      return await Promise.race([transport.handleRequest(request, options), disconnected])
    } finally {
      // Ends a call whose client has disconnected.
      await server.close()
    }
  },
})

/** The message without the token that requests progress. */
const withoutProgress = (message: unknown): unknown => {
  const { params } = message as { params?: { _meta?: { progressToken?: unknown } } }
  if (params?._meta?.progressToken === undefined) return message
  const { progressToken: _, ...meta } = params._meta
  return { ...(message as object), params: { ...params, _meta: meta } }
}
