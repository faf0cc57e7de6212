import { promises as dns, type LookupAddress } from 'node:dns'
import { isIP, isIPv6, type LookupFunction, type Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { OutboundError } from '../../ports/outbound.ts'
import type { AllowedAddresses } from './allowed-address.ts'
import { openTunnel, type ProxySettings, proxyFor } from './proxy.ts'

/**
 * Equals the concurrent deliveries to one host, because waiting for a connection counts against a request's timeout.
 */
const CONNECTIONS_PER_ORIGIN = 128

/** A burst to one receiver shares connections. Idle connections close soon, so that DNS changes take effect. */
const KEEP_ALIVE_MS = 4_000

/** DNS, TCP and TLS take several round trips of up to a third of a second, and a few packets may be lost. */
const CONNECT_TIMEOUT_MS = 10_000

export type Lookup = (host: string) => Promise<LookupAddress[]>

/** An agent that connects to allowed addresses only. It is opened by its first request. */
export const guardedAgent = (lookup: Lookup, addresses: AllowedAddresses, proxy?: ProxySettings) => {
  let agent: Promise<Agent> | undefined
  return {
    request: async (options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> => {
      agent ??= openAgent(lookup, addresses, proxy)
      return (await agent).request(options)
    },
    close: async () => (await agent)?.destroy(),
  }
}

/**
 * Loads undici with the first request: most processes send their first request long after the start, and some never do.
 */
const openAgent = async (lookup: Lookup, addresses: AllowedAddresses, proxy?: ProxySettings): Promise<Agent> => {
  const { Agent, buildConnector } = await import('undici')
  return new Agent({
    connect: guardedConnector(buildConnector, allowedOnly(lookup, addresses), addresses, proxy),
    connections: CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // Each request has one deadline, which a trickle of bytes cannot extend.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** The system's resolver, with its hosts file. It blocks one of a few threads. */
export const systemLookup: Lookup = host => dns.lookup(host, { all: true })

/** The timeout of a DNS query, and how often it is tried. */
const DNS_TIMEOUT_MS = 2_500
const DNS_TRIES = 2

const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })

/** DNS without the system's resolver. It blocks no thread, so a hung name server delays only its own names. */
export const dnsLookup: Lookup = async host => {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = [
    ...(v4.status === 'fulfilled' ? v4.value.map(address => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map(address => ({ address, family: 6 })) : []),
  ]
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason
  return found
}

const guardedConnector = (
  build: typeof buildConnector,
  lookup: Lookup,
  addresses: AllowedAddresses,
  proxy: ProxySettings | undefined,
): buildConnector.connector => {
  const connect = build({ timeout: CONNECT_TIMEOUT_MS, autoSelectFamily: true, lookup: toNodeLookup(lookup) })
  return (options, callback) => {
    const { protocol, hostname, port } = options
    // Node.js does not call `lookup` for literal IP addresses, so they are checked here.
    if (!addresses.hasHost(hostname)) return callback(notPublic(), null)
    const via = protocol === 'https:' && proxyFor(proxy, inBrackets(hostname), Number(port || HTTPS_PORT))
    if (!via) return connect(options, callback)
    tunnelTo(via, hostname, port || HTTPS_PORT, lookup).then(
      httpSocket => connect({ ...options, httpSocket }, callback),
      error => callback(error, null),
    )
  }
}

const HTTPS_PORT = '443'

const inBrackets = (host: string) => (isIPv6(host) ? `[${host}]` : host)

/**
 * Gives the proxy checked addresses, one after another, because the proxy could resolve the name to another address.
 */
const tunnelTo = async (via: string, hostname: string, port: string, lookup: Lookup): Promise<Socket> => {
  const found = isIP(hostname) ? [hostname] : (await lookup(hostname)).map(({ address }) => address)
  let fault: unknown
  for (const address of found)
    try {
      return (await openTunnel(via, `${inBrackets(address)}:${port}`, CONNECT_TIMEOUT_MS)) as Socket
    } catch (error) {
      fault = error
    }
  throw fault
}

/** Drops forbidden addresses instead of refusing the name: with DNS64, each IPv4 host also has a non-public address. */
const allowedOnly =
  (lookup: Lookup, addresses: AllowedAddresses): Lookup =>
  async host => {
    const found = (await lookup(host)).filter(({ address }) => addresses.hasAddress(address))
    if (found.length === 0) throw notPublic()
    return found
  }

/** The socket connects to these addresses without another lookup, so DNS cannot change them after the check. */
const toNodeLookup =
  (lookup: Lookup): LookupFunction =>
  (host, _options, callback) => {
    lookup(host).then(
      addresses => callback(null, addresses),
      error => callback(error, []),
    )
  }

const notPublic = () => refused('The address is not public.')

export const refused = (message: string) => new OutboundError('refused', message)
