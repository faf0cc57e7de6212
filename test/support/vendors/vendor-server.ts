import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'

/** A request that reached the stub of a vendor. */
export interface VendorRequest {
  method: string
  /** With its query. */
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface VendorServer {
  /** Without a trailing slash. */
  url: string
  requests: VendorRequest[]
}

export type Handler = (request: VendorRequest, response: ServerResponse) => void

/** An HTTP server on the loopback interface that stands in for a vendor until the test ends. */
export const startVendorServer = async (t: Test, handler: Handler): Promise<VendorServer> => {
  const requests: VendorRequest[] = []
  const server = createServer(async (incoming, response) => {
    // A client may give up while it sends.
    const body = await buffer(incoming).catch(() => undefined)
    if (!body) return
    const { method = '', url: path = '', headers } = incoming
    const request = { method, path, headers, body }
    requests.push(request)
    handler(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** Sends JSON, or text as it is. */
export const reply = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  const [type, text] =
    typeof body === 'string' ? ['text/html; charset=utf-8', body] : ['application/json', JSON.stringify(body)]
  response.writeHead(status, { 'Content-Type': type, ...headers }).end(text)
}

/** No answer, a connection that breaks before or within the answer, or an answer of the test's choice. */
export type Fault = 'hang' | 'cut' | 'break' | { status: number; body: unknown; headers?: Record<string, string> }

export const misbehave = (response: ServerResponse, fault: Fault): void => {
  if (fault === 'cut') response.destroy()
  else if (fault === 'break') {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '500' })
    response.write('{', () => setImmediate(() => response.destroy()))
  } else if (fault !== 'hang') reply(response, fault.status, fault.body, fault.headers)
}
