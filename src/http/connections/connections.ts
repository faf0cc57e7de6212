import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import onHeaders from 'on-headers'
import proxyAddr from 'proxy-addr'
import { OpenCounts } from '../../flow/open-counts.ts'
import { clientOf, type RoundRobin } from '../../flow/round-robin.ts'
import { ArrivingRequests } from './arriving-requests.ts'
import { type ClientAddress, type TrustedAddress, unmapped } from './client-address.ts'
import { parseInSlices } from './parse-in-slices.ts'
import { Pipelines } from './pipelines.ts'

/** How long a connection may be idle before its request has arrived in full. */
const IDLE_MS = 15_000

/** A response may pause longer than that: a slow line empties the system's buffer only now and then. */
const PAUSES_PER_RESPONSE = 4

/** How often Node.js looks for requests whose headers take too long. */
const CHECK_EVERY_MS = 2_500

export interface ConnectionLimits {
  /** Connections at a time. */
  total: number
  /** Connections at a time from one address: an IPv4 address, or the /64 network of an IPv6 address. */
  perAddress: number
  /** Addresses and CIDR ranges of proxies, whose connections are not limited per address. */
  isTrusted: TrustedAddress
  /** Finds the client of a request that a proxy may have forwarded. */
  clientAddress: ClientAddress
  /** The order in which clients may send more of their bodies. */
  turns: Pick<RoundRobin, 'next'>
  /** How long to keep a connection that has no further request after a response. */
  keepAliveMs: number
  idleMs?: number
  /** Called for each connection that is closed because of a limit. */
  onRefused?: () => void
}

/** Trusts addresses and CIDR ranges. Throws a TypeError if one is malformed. */
export const trust = (proxies: readonly string[]): TrustedAddress => {
  const isTrusted = proxyAddr.compile([...proxies])
  return address => isTrusted(address, 0)
}

/** An HTTP server that no client can fill with connections or bodies. */
export const createLimitedServer = (handle: RequestListener, limits: ConnectionLimits): Server => {
  const { total, perAddress, isTrusted, clientAddress, turns, keepAliveMs, idleMs = IDLE_MS } = limits
  const onRefused = limits.onRefused ?? (() => undefined)
  const connectionsCheckingInterval = Math.min(CHECK_EVERY_MS, idleMs)
  /** Connections that wait for another request. One that is new is not among them: its first request is on its way. */
  const kept = new Set<Socket>()
  const handleNext: RequestListener = (request, response) => {
    // Libraries for event streams promise to keep every connection alive.
    if (/\bclose\b/i.test(request.headers.connection ?? ''))
      onHeaders(response, () => response.setHeader('Connection', 'close'))
    kept.delete(request.socket)
    handle(request, response)
  }
  const pipelines = new Pipelines(handleNext, socket => kept.add(socket))
  // Node.js counts `headersTimeout` from the first byte of a request, so it does not end idle connections.
  const timeouts = { headersTimeout: idleMs, keepAliveTimeout: keepAliveMs, connectionsCheckingInterval }
  const server = createServer(timeouts, (request, response) => pipelines.add(request, response))
  // Node.js itself would refuse any number of these ahead of the requests that are handled. The header may be ignored.
  server.on('checkExpectation', (request, response) => pipelines.add(request, response))
  server.setTimeout(idleMs, socket => endIdle(socket, pipelines.current(socket), PAUSES_PER_RESPONSE * idleMs))
  server.maxConnections = total
  // A full server makes room for new connections.
  server.on('drop', () => {
    for (const socket of kept) socket.destroy()
    onRefused()
  })
  const connections = new OpenCounts<string>(perAddress)
  const arriving = new ArrivingRequests(request => networkOf(clientAddress(request)))
  server.on('connection', (socket: Socket) => {
    const refuse = () => {
      socket.destroy()
      onRefused()
    }
    socket.once('close', () => kept.delete(socket))
    parseInSlices(socket, {
      request: () => pipelines.arriving(socket),
      admit: request => arriving.admit(request),
      nextTurn: request => turns.next(clientOf(request), socket),
      refuse,
    })
    const { remoteAddress = '' } = socket
    if (!isTrusted(remoteAddress) && !connections.add(networkOf(remoteAddress), socket)) refuse()
  })
  return server
}

/** Ends an idle connection, unless the service still works on its request or has only begun to wait for the client. */
const endIdle = (socket: Socket, request: IncomingMessage | undefined, responseMs: number) => {
  if (!request?.complete) socket.destroy()
  else if (socket.writableLength === 0) return
  else if (socket.timeout === responseMs) socket.destroy()
  else socket.setTimeout(responseMs)
}

/** The network whose connections count together. A client with IPv6 usually has a /64 network of its own. */
export const networkOf = (address: string): string => {
  if (!isIPv6(address) || unmapped(address) !== address) return unmapped(address)
  const [left = [], right = []] = address.split('::').map(half => half.split(':').filter(Boolean))
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}
