import { promises as dns, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { type Outbound, OutboundError, type OutboundGet } from '../../ports/outbound.ts'
import { readSized } from '../../ports/read-sized.ts'
import { callWithin } from '../../time/call-within.ts'
import { systemClock } from '../clock/system.ts'
import { type AddressRange, AllowedAddresses } from './allowed-address.ts'

/**
 * Equals the concurrent deliveries to one host, because waiting for a connection counts against a request's timeout.
 */
const CONNECTIONS_PER_ORIGIN = 128

/** A burst to one receiver shares connections. Idle ones close soon, so that DNS changes take effect. */
const KEEP_ALIVE_MS = 4_000

/** DNS, TCP and TLS take several round trips of up to a third of a second, and a few packets may be lost. */
const CONNECT_TIMEOUT_MS = 10_000

/** A response to a POST that is this short and fast is read to its end, so that the connection can be reused. */
const DISCARD_BYTES = 4_096
const DISCARD_MS = 1_000

const USER_AGENT = 'Tollgate'

export interface OutboundOptions {
  /** Allows requests to private addresses. For development only. */
  allowPrivate: boolean
  /** Further addresses to which no request goes. */
  denied?: readonly AddressRange[]
  /** Resolves a name. By default asks DNS, or the system if private addresses are allowed. */
  lookup?: Lookup
}

export type Lookup = (host: string) => Promise<LookupAddress[]>

/** Requests through undici. The connector enforces the allowed addresses. */
export const createOutbound = ({
  allowPrivate,
  denied = [],
  lookup = allowPrivate ? systemLookup : dnsLookup,
}: OutboundOptions): Outbound => {
  const addresses = new AllowedAddresses({ denied, allowPrivate })
  let agent: Promise<Agent> | undefined
  const request = async (options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> => {
    agent ??= openAgent(lookup, addresses)
    return (await agent).request(options)
  }
  return {
    refuses: url => URL.canParse(url) && !addresses.hasHost(hostOf(new URL(url))),
    post: (url, { headers, body, timeoutMs }) =>
      within(timeoutMs, undefined, async signal => {
        const sent = { 'user-agent': USER_AGENT, ...headers }
        const answer = await request({ ...target(url), method: 'POST', headers: sent, body, signal })
        discard(answer.body)
        return { status: answer.statusCode, retryAfter: first(answer.headers['retry-after']) }
      }),
    get: (url, { maxBytes, timeoutMs, signal: outer, onSize }) =>
      within(timeoutMs, outer, async signal => {
        const headers = { 'user-agent': USER_AGENT, 'accept-encoding': 'identity' }
        const answer = await request({ ...target(url), method: 'GET', headers, signal })
        const fault = faultOf(answer)
        if (fault) {
          discard(answer.body)
          throw new OutboundError('failed', fault)
        }
        const mimeType = first(answer.headers['content-type'])?.split(';')[0]?.trim().toLowerCase()
        return { mimeType: mimeType || 'application/octet-stream', bytes: await read(answer, maxBytes, onSize) }
      }),
    close: async () => (await agent)?.destroy(),
  }
}

/** Loads undici with the first request: most processes are up before they send one, and some never do. */
const openAgent = async (lookup: Lookup, addresses: AllowedAddresses): Promise<Agent> => {
  const { Agent, buildConnector } = await import('undici')
  return new Agent({
    connect: guardedConnector(buildConnector, lookup, addresses),
    connections: CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // Each request has one deadline, which a trickle of bytes cannot extend.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** The system's resolver, with its hosts file. It blocks one of a few threads. */
const systemLookup: Lookup = host => dns.lookup(host, { all: true })

/** The timeout of a DNS query, and how often it is tried. */
const DNS_TIMEOUT_MS = 2_500
const DNS_TRIES = 2

const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })

/** DNS without the system's resolver. It blocks no thread, so a hung name server delays no other names. */
const dnsLookup: Lookup = async host => {
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
): buildConnector.connector => {
  const connect = build({
    timeout: CONNECT_TIMEOUT_MS,
    autoSelectFamily: true,
    lookup: toNodeLookup(allowedOnly(lookup, addresses)),
  })
  return (options, callback) => {
    // Node.js does not call `lookup` for literal IP addresses, so they are checked here.
    if (addresses.hasHost(options.hostname)) connect(options, callback)
    else callback(notPublic(), null)
  }
}

/**
 * Drops other addresses instead of refusing the name: with DNS64, each IPv4 host has a non-public address too.
 */
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

/** An IPv6 address without its brackets. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1')

const target = (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw refused('The address is not an http or https URL.')
  // They would not be sent, and a stored address must not contain secrets.
  if (url.username || url.password) throw refused('The address contains a user name or password.')
  return { origin: url.origin, path: url.pathname + url.search }
}

const refused = (message: string) => new OutboundError('refused', message)

/** Runs work with a timeout. Does not wait for aborted work, because undici cannot abort while it connects. */
const within = <T>(timeoutMs: number, outer: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>) => {
  const tooLate = () => {
    throw new OutboundError('failed', `The address did not respond completely within ${timeoutMs} ms.`)
  }
  return callWithin(systemClock, timeoutMs, work, tooLate, outer).catch(error => {
    throw outer?.aborted ? outer.reason : toOutboundError(error)
  })
}

const toOutboundError = (error: unknown): OutboundError => {
  if (error instanceof OutboundError) return error
  const code = String((error as NodeJS.ErrnoException).code)
  return new OutboundError('failed', messageFor(code), { cause: error })
}

const messageFor = (code: string): string => {
  if (code === 'ENOTFOUND') return 'The host name of the address does not exist.'
  if (/CERT|SSL|TLS|VERIFY/.test(code)) return 'The address does not use TLS, or its certificate is not trusted.'
  return 'The address could not be reached, or its response was cut off.'
}

const faultOf = ({ statusCode, headers }: Dispatcher.ResponseData): string | undefined => {
  if (statusCode !== 200) return `The address answered with status ${statusCode}.`
  const encoding = first(headers['content-encoding'])?.toLowerCase() ?? 'identity'
  // Decompression could turn a few bytes into any number of them.
  return encoding === 'identity' ? undefined : 'The address sent compressed content, which was not requested.'
}

const read = async (
  { body, headers }: Dispatcher.ResponseData,
  maxBytes: number,
  onSize: OutboundGet['onSize'],
): Promise<Uint8Array> => {
  const declaredBytes = Number(headers['content-length'] ?? Number.NaN)
  if (declaredBytes <= maxBytes) {
    onSize?.(declaredBytes)
    return readSized(body, declaredBytes)
  }
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength
    if (sizeBytes > maxBytes) throw new OutboundError('failed', `The address sent more than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Runs in the background: the status is known, and the body does not matter. */
const discard = (body: Dispatcher.ResponseData['body']) => {
  // A timer, because AbortSignal.timeout would cost more than a whole short response.
  const timer = setTimeout(() => body.destroy(), DISCARD_MS)
  body
    .dump({ limit: DISCARD_BYTES })
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}

const first = (header: string | string[] | undefined): string | undefined => [header].flat()[0]
