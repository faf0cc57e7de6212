import { pipeline } from 'node:stream/promises'
import type { Dispatcher } from 'undici'
import { Unavailable } from '../../ports/faults.ts'
import { type Outbound, type OutboundCopy, OutboundError, type OutboundGet, readSized } from '../../ports/outbound.ts'
import { callWithin } from '../../time/timers.ts'
import { systemClock } from '../clock/system.ts'
import { type AddressRange, AllowedAddresses } from './allowed-address.ts'
import { dnsLookup, guardedAgent, type Lookup, refused, systemLookup } from './guarded-agent.ts'
import type { ProxySettings } from './proxy.ts'

/** A response to a POST that is this short and fast is read to the end, so that the connection can be reused. */
const DISCARD_BYTES = 4_096
const DISCARD_MS = 1_000

const USER_AGENT = 'Tollgate'

const FILE_HEADERS = { 'user-agent': USER_AGENT, 'accept-encoding': 'identity' }

export interface OutboundOptions {
  /** Allows requests to private addresses. For development only. */
  allowPrivate: boolean
  /** Further forbidden addresses. */
  denied?: readonly AddressRange[]
  /** The proxy for `https://` URLs. It gets checked addresses instead of names. */
  proxy?: ProxySettings | undefined
  /** Resolves a name. By default asks DNS, or the system if private addresses are allowed. */
  lookup?: Lookup
}

/** Requests through undici. The connector enforces the allowed addresses. */
export const createOutbound = ({
  allowPrivate,
  denied = [],
  proxy,
  lookup = allowPrivate ? systemLookup : dnsLookup,
}: OutboundOptions): Outbound => {
  const addresses = new AllowedAddresses({ denied, allowPrivate })
  const guarded = guardedAgent(lookup, addresses, proxy)
  /** For the origins of providers, which the operator has configured. */
  const trusted = guardedAgent(systemLookup, new AllowedAddresses({ denied, allowPrivate: true }), proxy)
  const { request } = guarded
  return {
    refuses: url => addresses.refusesUrl(url),
    post: (url, { headers, body, timeoutMs }) =>
      within(timeoutMs, undefined, async signal => {
        const sent = { 'user-agent': USER_AGENT, ...headers }
        const answer = await request({ ...target(url), method: 'POST', headers: sent, body, signal })
        discard(answer.body)
        return { status: answer.statusCode, retryAfter: first(answer.headers['retry-after']) }
      }),
    get: (url, { maxBytes, timeoutMs, signal: outer, onSize }) =>
      within(timeoutMs, outer, async signal => {
        const answer = await follow(url, to => request({ ...to, method: 'GET', headers: FILE_HEADERS, signal }))
        const fault = faultOf(answer)
        if (fault) {
          discard(answer.body)
          throw new OutboundError('failed', fault)
        }
        const mimeType = first(answer.headers['content-type'])?.split(';')[0]?.trim().toLowerCase()
        return { mimeType: mimeType || 'application/octet-stream', bytes: await read(answer, maxBytes, onSize) }
      }),
    copy: (url, into, { maxBytes, timeoutMs, signal: outer, onBytes, trustedOrigin }) =>
      within(timeoutMs, outer, async signal => {
        const to = target(url)
        const agent = to.origin === trustedOrigin ? trusted : guarded
        const answer = await agent.request({ ...to, method: 'GET', headers: FILE_HEADERS, signal })
        const fault = faultOf(answer)
        const isTooLarge = Number(answer.headers['content-length']) > maxBytes
        if (fault || isTooLarge) {
          discard(answer.body)
          throw fault ? new OutboundError('failed', fault) : tooLarge(maxBytes)
        }
        await pipeline(answer.body, upTo(maxBytes, onBytes), into, { signal })
      }).catch(error => {
        into.destroy()
        throw error
      }),
    close: async () => {
      await Promise.all([guarded.close(), trusted.close()])
    },
  }
}

const target = (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw refused('The address is not an http or https URL.')
  // User and password would not be sent, and a stored address must not contain secrets.
  if (url.username || url.password) throw refused('The address contains a user name or password.')
  return { origin: url.origin, path: url.pathname + url.search }
}

/** Share links redirect once or twice. */
const MAX_REDIRECTS = 3

/** Follows redirects. Each target is checked like the first, and the agent checks each connection. */
const follow = async (
  address: string,
  get: (to: ReturnType<typeof target>) => Promise<Dispatcher.ResponseData>,
): Promise<Dispatcher.ResponseData> => {
  let url = address
  for (let redirects = 0; ; redirects++) {
    const answer = await get(target(url))
    const location = REDIRECTS.has(answer.statusCode) ? first(answer.headers['location']) : undefined
    if (location === undefined) return answer
    discard(answer.body)
    if (redirects === MAX_REDIRECTS) throw new OutboundError('failed', 'The address redirects more than three times.')
    if (!URL.canParse(location, url)) throw refused('The address redirects to something that is not a URL.')
    url = new URL(location, url).href
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Runs work with a timeout. Does not wait for aborted work, because undici cannot abort while it connects. */
const within = <T>(timeoutMs: number, outer: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>) => {
  const tooLate = () => {
    throw new OutboundError('failed', `The address did not respond completely within ${timeoutMs} ms.`)
  }
  return callWithin(systemClock, timeoutMs, work, tooLate, outer).catch(error => {
    throw outer?.aborted ? outer.reason : toOutboundError(error)
  })
}

/** If the sink of a copy is Unavailable, the address is not at fault. */
const toOutboundError = (error: unknown): OutboundError | Unavailable => {
  if (error instanceof OutboundError || error instanceof Unavailable) return error
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
  // Decompression could turn a few bytes into any number of bytes.
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
    if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Passes on at most `maxBytes` bytes. */
const upTo = (maxBytes: number, onBytes: OutboundCopy['onBytes']) =>
  async function* (chunks: AsyncIterable<Buffer>) {
    let sizeBytes = 0
    for await (const chunk of chunks) {
      sizeBytes += chunk.byteLength
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
      onBytes?.(chunk)
      yield chunk
    }
  }

const tooLarge = (maxBytes: number) => {
  const limit = maxBytes % MEGABYTE === 0 ? `${maxBytes / MEGABYTE} MB` : `${maxBytes} bytes`
  return new OutboundError('failed', `The address sent more than ${limit}.`)
}

const MEGABYTE = 1024 * 1024

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
