import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { openProxyAgent, type ProxySettings } from './proxy.ts'
import { type HeldResponse, ResponseMemory } from './response-memory.ts'

/** Runs skip a provider that cannot be reached. DNS, TCP and TLS take several round trips. */
const CONNECT_TIMEOUT_MS = 10_000

/** Shorter than the keep-alive of servers, so that requests rarely use a connection that its server has just closed. */
const KEEP_ALIVE_MS = 4_000

/** Far more than responses with pictures in Base64 or a film of minutes have. Larger results come as addresses. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024

/** The memory for concurrent responses of one server: a few with films, or hundreds of common size. */
const MEMORY_BYTES = MAX_ANSWER_BYTES

/** Shorter responses are not limited. Even one per call takes little memory. */
const SMALL_BYTES = 256 * 1024

/** Errors are read up to this size. */
const MAX_ERROR_BYTES = 64 * 1024

/** Copying it takes about a millisecond. */
const JOINED_BYTES = 1024 * 1024

interface VendorFetch {
  fetch: typeof fetch
  close(): Promise<void>
}

/**
 * The `fetch` of vendors' clients. The operator configures the addresses, which may be private. Only the caller limits
 * the time. Follows no redirect, since the key would be sent along; a caller may ask to see redirects.
 */
export const openVendorFetch = (proxy?: ProxySettings): VendorFetch => {
  let undici: Promise<Undici> | undefined
  /** Per server, so that a slow server delays no other. */
  const memories = new Map<string, ResponseMemory>()
  const memoryOf = (url: string): ResponseMemory => {
    const { origin } = new URL(url)
    const memory = memories.get(origin) ?? new ResponseMemory(MEMORY_BYTES)
    memories.set(origin, memory)
    return memory
  }
  return {
    fetch: async (input, init = {}) => {
      undici ??= openUndici(proxy)
      const { agent, request } = await undici
      const { method = 'GET', headers, body, signal = null } = init
      const redirect = init.redirect === 'manual' ? 'manual' : 'error'
      const { url, headers: own } = input instanceof Request ? input : { url: String(input) }
      const sent = { 'accept-encoding': 'identity', ...toObject(headers ?? own) }
      const reading: Reading = { redirect, signal, hold: () => memoryOf(url).open() }
      if (typeof input === 'string' && (typeof body === 'string' || !body)) {
        const options = { method: method as Dispatcher.HttpMethod, headers: sent, body: body ?? null, signal }
        return read(await request(input, { ...options, dispatcher: agent }), reading)
      }
      const dispatcher = agent as unknown as NonNullable<RequestInit['dispatcher']>
      return read(await sendForm(input, { ...init, headers: sent, redirect, dispatcher }), reading)
    },
    close: async () => (await undici)?.agent.destroy(),
  }
}

interface Undici {
  agent: Dispatcher
  /** Takes a third of the time that `fetch` takes. */
  request: typeof import('undici').request
}

const openUndici = async (proxy: ProxySettings | undefined): Promise<Undici> => {
  const { request } = await import('undici')
  const agent = await openProxyAgent(proxy, {
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return { agent, request }
}

const toObject = (headers: RequestInit['headers']): Record<string, string> =>
  headers && (headers instanceof Headers || Symbol.iterator in headers)
    ? Object.fromEntries(new Headers(headers as Headers))
    : ((headers as Record<string, string> | undefined) ?? {})

type Answer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> & { body: Readable }

/** The global `fetch`: the package's own does not accept the forms of the vendors' clients. */
const sendForm = async (...sent: Parameters<typeof fetch>): Promise<Answer> => {
  const { status, headers, body } = await fetch(...sent)
  return { statusCode: status, headers: Object.fromEntries(headers), body: Readable.from(body ?? []) }
}

interface Reading {
  redirect: 'manual' | 'error'
  signal: AbortSignal | null
  /** Starts to count the memory of a response. */
  hold(): HeldResponse
}

const read = async (
  { statusCode: status, headers, body }: Answer,
  { redirect, signal, hold }: Reading,
): Promise<Response> => {
  const fail = (words: string) => {
    body.destroy().on('error', () => undefined)
    return new Error(words)
  }
  if (status >= 300 && status < 400 && redirect === 'error') throw fail('unexpected redirect')
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') throw fail(`the answer is compressed with ${encoding}`)
  const isError = status >= 400
  const pieces: Buffer<ArrayBuffer>[] = []
  let sizeBytes = 0
  let held: HeldResponse | undefined
  try {
    for await (const piece of body as AsyncIterable<Buffer<ArrayBuffer>>) {
      pieces.push(piece)
      sizeBytes += piece.byteLength
      if (isError && sizeBytes > MAX_ERROR_BYTES) break
      if (sizeBytes > MAX_ANSWER_BYTES) throw fail(`the answer has more than ${MAX_ANSWER_BYTES} bytes`)
      if (sizeBytes <= SMALL_BYTES) continue
      held ??= hold()
      await held.grow(piece.byteLength, signal)
    }
    const [first] = pieces
    return readResponse(first && pieces.length === 1 ? first : await joined(pieces, sizeBytes), status, headers)
  } finally {
    held?.close()
  }
}

/** Joins pieces, and lets other work run in between: joining a large response at once would block it. */
const joined = async (pieces: Buffer[], sizeBytes: number): Promise<Buffer<ArrayBuffer>> => {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes)
  let at = 0
  for (const piece of pieces) {
    const end = at + piece.byteLength
    if (Math.floor(at / JOINED_BYTES) < Math.floor(end / JOINED_BYTES)) await nextTurn()
    bytes.set(piece, at)
    at = end
  }
  return bytes
}

/** The headers of a response, read-only. Filling a `Headers` object takes several times as long. */
class ReadHeaders extends Map<string, string> {
  readonly #cookies: readonly string[]

  /** The names are in lowercase. */
  constructor(headers: IncomingHttpHeaders) {
    super()
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined) this.set(name, typeof value === 'string' ? value : value.join(', '))
    }
    this.#cookies = headers['set-cookie'] ?? []
  }

  /** Null if there is none, as in `Headers`. */
  override get(name: string) {
    return (super.get(name.toLowerCase()) ?? null) as string
  }

  override has(name: string) {
    return super.has(name.toLowerCase())
  }

  getSetCookie(): string[] {
    return [...this.#cookies]
  }
}

/** A response whose body is in memory. Reading it as a stream takes longer than the request. */
const readResponse = (bytes: Uint8Array<ArrayBuffer>, status: number, received: IncomingHttpHeaders): Response => {
  // The length is known now, even if the body came in pieces.
  const headers = new ReadHeaders({ ...received, 'content-length': String(bytes.byteLength) })
  const stream = () => new Response(isBodiless(status) ? null : bytes, { status, headers: [...headers] })
  const text = () => decoder.decode(bytes)
  const response = new Response(null, { status })
  Object.defineProperties(response, { body: { get: () => stream().body }, headers: { value: headers } })
  return Object.assign(response, {
    text: async () => text(),
    json: async () => JSON.parse(text()),
    arrayBuffer: async () => toArrayBuffer(bytes),
    blob: async () => stream().blob(),
    formData: async () => stream().formData(),
    clone: stream,
  })
}

const isBodiless = (status: number) => status === 204 || status === 205 || status === 304

const decoder = new TextDecoder()

/** Does not copy if the buffer holds nothing else. */
const toArrayBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): ArrayBuffer =>
  byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)
