import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'
import { createOutbound, type OutboundOptions } from '../../../src/adapters/outbound/undici.ts'
import { type Outbound, OutboundError } from '../../../src/ports/outbound.ts'

/** Long enough for expected responses on a busy machine. */
const PATIENCE_MS = 20_000
/** For requests that must time out. */
export const SHORT_MS = 200

export const POST = { headers: { 'Content-Type': 'text/plain' }, body: '{}', timeoutMs: PATIENCE_MS }
export const GET = { maxBytes: 1000, timeoutMs: PATIENCE_MS }

export const open = (t: Test, options: OutboundOptions): Outbound => {
  const outbound = createOutbound(options)
  t.teardown(() => outbound.close())
  return outbound
}

export const openForDevelopment = (t: Test) => open(t, { allowPrivate: true })

export const faultOf = async (promise: Promise<unknown>): Promise<OutboundError> => {
  const outcome = await promise.catch(error => error)
  if (outcome instanceof OutboundError) return outcome
  throw new Error('There was no OutboundError.', { cause: outcome })
}

/** Listens on loopback in IPv4 and, if available, IPv6, and counts connections. */
export const startCanary = async (t: Test, hosts = ['127.0.0.1', '::1']) => {
  const canary = { port: 0, connections: 0 }
  const count = (socket: Socket) => {
    canary.connections++
    socket.destroy()
  }
  for (const host of hosts) {
    const server = createTcpServer(count)
    try {
      canary.port = await listenOn(server, host, canary.port)
      t.teardown(() => server.close())
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') throw error
    }
  }
  return canary
}

export const serve = async (t: Test, listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  const port = await listenOn(server, '127.0.0.1')
  t.teardown(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${port}/`
}

export const listen = async (t: Test, onSocket: (socket: Socket) => void): Promise<string> => {
  const server = createTcpServer(socket => {
    t.teardown(() => socket.destroy())
    // Clients may abort.
    socket.on('error', () => undefined).resume()
    onSocket(socket)
  })
  const port = await listenOn(server, '127.0.0.1')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${port}/`
}

export const listenOn = async (server: Server, host: string, port = 0): Promise<number> => {
  server.listen(port, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
