import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { AnswerRoom, type HeldAnswer } from './answer-room.ts'
import { openProxyAgent, type ProxySettings } from './proxy.ts'

/** A provider that cannot be reached is passed over; DNS, TCP and TLS take several round trips. */
const CONNECT_TIMEOUT_MS = 10_000

/** Shorter than what servers keep, so that hardly any request goes to a connection that its server has just closed. */
const KEEP_ALIVE_MS = 4_000

/** Far more than answers with pictures in Base64 or a film of minutes have; everything else comes as an address. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024

/** Answers of one server that are read at a time: some with films, or hundreds of common size. */
const ROOM_BYTES = MAX_ANSWER_BYTES

/** Shorter answers need no room: as many as there are calls take little memory. */
const SMALL_BYTES = 256 * 1024

/** The rest of an error is not read. */
const MAX_ERROR_BYTES = 64 * 1024

/** Takes about a millisecond to copy. */
const JOINED_BYTES = 1024 * 1024

interface VendorFetch {
  fetch: typeof fetch
  close(): Promise<void>
}

/**
 * The `fetch` of vendors' clients: to addresses that the operator configures, which may be private, and with no time
 * limit but that of the caller. It follows no redirect, since the key would go along; a caller may ask to see them.
 */
export const openVendorFetch = (proxy?: ProxySettings): VendorFetch => {
  let undici: Promise<Undici> | undefined
  /** By the server, so that a slow one holds up no other. */
  const rooms = new Map<string, AnswerRoom>()
  const roomOf = (url: string): AnswerRoom => {
    const { origin } = new URL(url)
    const room = rooms.get(origin) ?? new AnswerRoom(ROOM_BYTES)
    rooms.set(origin, room)
    return room
  }
  return {
    fetch: async (input, init = {}) => {
      undici ??= openUndici(proxy)
      const { agent, request } = await undici
      const { method = 'GET', headers, body, signal = null } = init
      const redirect = init.redirect === 'manual' ? 'manual' : 'error'
      const { url, headers: own } = input instanceof Request ? input : { url: String(input) }
      const sent = { 'accept-encoding': 'identity', ...toObject(headers ?? own) }
      const reading: Reading = { redirect, signal, hold: () => roomOf(url).open() }
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

/** The global one: that of the package does not take the forms of the vendors' clients. */
const sendForm = async (...sent: Parameters<typeof fetch>): Promise<Answer> => {
  const { status, headers, body } = await fetch(...sent)
  return { statusCode: status, headers: Object.fromEntries(headers), body: Readable.from(body ?? []) }
}

interface Reading {
  redirect: 'manual' | 'error'
  signal: AbortSignal | null
  /** Begins to hold an answer in memory. */
  hold(): HeldAnswer
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
  let held: HeldAnswer | undefined
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

/** Joins pieces in turns with other work: a large answer at once would hold it up. */
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

/** A response whose body is in memory. To read it as a stream takes longer than the request. */
const readResponse = (bytes: Uint8Array<ArrayBuffer>, status: number, received: IncomingHttpHeaders): Response => {
  // The length is known now, even of a body that came in pieces.
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

/** Without a copy, if nothing else lies there. */
const toArrayBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): ArrayBuffer =>
  byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)
