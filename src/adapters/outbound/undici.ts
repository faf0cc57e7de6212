import { promises as dns, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { type Outbound, OutboundError } from '../../ports/outbound.ts'
import { isPublicAddress, isPublicHost } from './public-address.ts'

/** As many as deliveries are made to one host at a time: a request that waits for a connection uses up its own time. */
const CONNECTIONS_PER_ORIGIN = 64

/** A burst to one receiver shares its connections. What is idle for longer is closed, so that DNS is soon asked again. */
const KEEP_ALIVE_MS = 4_000

/** DNS, TCP and TLS take some round trips; the longest is a third of a second, and a few packets may be lost. */
const CONNECT_TIMEOUT_MS = 10_000

/** An answer to a post is read to its end when it is this short and quick, for the sake of its connection. */
const DISCARD_BYTES = 4_096
const DISCARD_MS = 1_000

const USER_AGENT = 'Tollgate'

export interface OutboundOptions {
  /** Lets requests reach addresses that are not public. For development only. */
  allowPrivate: boolean
  /** What a name resolves to; the DNS's answer unless given, or the system's where private addresses are allowed. */
  lookup?: Lookup
}

export type Lookup = (host: string) => Promise<LookupAddress[]>

/** Requests through undici, held to public addresses where the connection is made. */
export const createOutbound = ({
  allowPrivate,
  lookup = allowPrivate ? systemLookup : dnsLookup,
}: OutboundOptions): Outbound => {
  const agent = new Agent({
    connect: allowPrivate ? connector(lookup) : publicConnector(lookup),
    connections: CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // Each request has a deadline for all of it, which a trickle of bytes does not move.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    post: (url, { headers, body, timeoutMs }) =>
      within(timeoutMs, undefined, async signal => {
        const sent = { 'user-agent': USER_AGENT, ...headers }
        const answer = await agent.request({ ...target(url), method: 'POST', headers: sent, body, signal })
        discard(answer.body)
        return { status: answer.statusCode, retryAfter: first(answer.headers['retry-after']) }
      }),
    get: (url, { maxBytes, timeoutMs, signal: outer }) =>
      within(timeoutMs, outer, async signal => {
        const headers = { 'user-agent': USER_AGENT, 'accept-encoding': 'identity' }
        const answer = await agent.request({ ...target(url), method: 'GET', headers, signal })
        const fault = faultOf(answer)
        if (fault) {
          discard(answer.body)
          throw new OutboundError('failed', fault)
        }
        const mimeType = first(answer.headers['content-type'])?.split(';')[0]?.trim().toLowerCase()
        return { mimeType: mimeType || 'application/octet-stream', bytes: await read(answer.body, maxBytes) }
      }),
    close: () => agent.destroy(),
  }
}

/** As the machine resolves names, with its hosts file. It takes a thread while it waits, of which there are few. */
const systemLookup: Lookup = host => dns.lookup(host, { all: true })

/** How long a name server may take, and how often it is asked. */
const DNS_TIMEOUT_MS = 2_500
const DNS_TRIES = 2

const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })

/** As the DNS resolves names. It takes no thread, so that names whose servers hang hold up no others. */
const dnsLookup: Lookup = async host => {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = [
    ...(v4.status === 'fulfilled' ? v4.value.map(address => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map(address => ({ address, family: 6 })) : []),
  ]
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason
  return found
}

const publicConnector = (lookup: Lookup): buildConnector.connector => {
  const connect = connector(publicOnly(lookup))
  return (options, callback) => {
    // Node.js looks up names alone: an address in figures comes by no other place where it could be stopped.
    if (isPublicHost(options.hostname)) connect(options, callback)
    else callback(notPublic(), null)
  }
}

const connector = (lookup: Lookup) =>
  buildConnector({ timeout: CONNECT_TIMEOUT_MS, autoSelectFamily: true, lookup: toNodeLookup(lookup) })

/**
 * What DNS gives beside public addresses is left out and not held against a name: where DNS64 is at work, each IPv4 host has
 * such an address too.
 */
const publicOnly =
  (lookup: Lookup): Lookup =>
  async host => {
    const addresses = (await lookup(host)).filter(({ address }) => isPublicAddress(address))
    if (addresses.length === 0) throw notPublic()
    return addresses
  }

/** The socket connects to what is given here and asks no second time, so DNS cannot change its mind after the check. */
const toNodeLookup =
  (lookup: Lookup): LookupFunction =>
  (host, _options, callback) => {
    lookup(host).then(
      addresses => callback(null, addresses),
      error => callback(error, []),
    )
  }

const notPublic = () => refused('The address is not a public one.')

const target = (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw refused('The address is not an http or https URL.')
  // They would not be sent, and what is secret does not belong in an address that is stored.
  if (url.username || url.password) throw refused('The address holds a user name or a password.')
  return { origin: url.origin, path: url.pathname + url.search }
}

const refused = (message: string) => new OutboundError('refused', message)

/** Does work within a time. The work hears of its end, but is not waited for: undici cannot leave off while it connects. */
const within = async <T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  outer?.throwIfAborted()
  const stop = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason))
  })
  const late = () => stop.abort(new OutboundError('failed', `The address gave no full answer within ${timeoutMs} ms.`))
  const timer = setTimeout(late, timeoutMs)
  const abort = () => stop.abort(outer?.reason)
  outer?.addEventListener('abort', abort)
  try {
    return await Promise.race([work(stop.signal), stopped])
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : toOutboundError(error)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', abort)
  }
}

const toOutboundError = (error: unknown): OutboundError => {
  if (error instanceof OutboundError) return error
  const code = String((error as NodeJS.ErrnoException).code)
  return new OutboundError('failed', messageFor(code), { cause: error })
}

const messageFor = (code: string): string => {
  if (code === 'ENOTFOUND') return 'The host name of the address is not known.'
  if (/CERT|SSL|TLS|VERIFY/.test(code))
    return 'The address does not speak TLS, or has no certificate that can be trusted.'
  return 'The address could not be reached, or broke off its answer.'
}

const faultOf = ({ statusCode, headers }: Dispatcher.ResponseData): string | undefined => {
  if (statusCode !== 200) return `The address answered with status ${statusCode}.`
  const encoding = first(headers['content-encoding'])?.toLowerCase() ?? 'identity'
  // Unpacking could make any number of bytes of a few.
  return encoding === 'identity' ? undefined : 'The address answered with compressed content, which was not asked for.'
}

const read = async (body: AsyncIterable<Buffer>, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength
    if (sizeBytes > maxBytes) throw new OutboundError('failed', `The address sent more than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Nobody waits for this: the status is known, and the rest changes nothing. */
const discard = (body: Dispatcher.ResponseData['body']) => {
  // A signal that aborts by itself would cost more than the whole of a short answer.
  const timer = setTimeout(() => body.destroy(), DISCARD_MS)
  body
    .dump({ limit: DISCARD_BYTES })
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}

const first = (header: string | string[] | undefined): string | undefined => [header].flat()[0]
