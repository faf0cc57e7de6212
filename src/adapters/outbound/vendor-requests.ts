import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { RequestVendor, VendorAnswer } from '../../ports/vendor-request.ts'
import { openProxyAgent, type ProxySettings } from './proxy.ts'
import { type HeldResponse, ResponseMemory } from './response-memory.ts'

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

export interface VendorRequests {
  request: RequestVendor
  close(): Promise<void>
}

/**
 * Requests to vendors: to addresses that the operator configures, which may be private, and with no time limit but that
 * of the caller. No redirect is followed, since the key would go along.
 */
export const openVendorRequests = (proxy?: ProxySettings): VendorRequests => {
  let agent: Promise<Dispatcher> | undefined
  /** By the server, so that a slow one holds up no other. */
  const rooms = new Map<string, ResponseMemory>()
  const roomOf = (origin: string): ResponseMemory => {
    const room = rooms.get(origin) ?? new ResponseMemory(ROOM_BYTES)
    rooms.set(origin, room)
    return room
  }
  return {
    request: async (url, { method = 'GET', headers, body = null, signal }) => {
      agent ??= openAgent(proxy)
      const dispatcher = await agent
      signal?.throwIfAborted()
      const { origin, pathname, search } = new URL(url)
      const options = { origin, path: pathname + search, method, body } as Dispatcher.DispatchOptions
      options.headers = { 'accept-encoding': 'identity', ...headers }
      return new Promise((resolve, reject) => {
        dispatcher.dispatch(options, new Reading({ resolve, reject, signal, room: () => roomOf(origin) }))
      })
    },
    close: async () => (await agent)?.destroy(),
  }
}

/** Loads undici with the first request: some processes never send one. */
const openAgent = (proxy: ProxySettings | undefined): Promise<Dispatcher> =>
  openProxyAgent(proxy, {
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  })

interface Waiting {
  resolve(answer: Promise<VendorAnswer>): void
  reject(error: unknown): void
  signal: AbortSignal | null | undefined
  room(): ResponseMemory
}

/** Reads an answer as it arrives. Takes half the time that undici's own `request` takes, which makes a stream of it. */
class Reading implements Dispatcher.DispatchHandler {
  readonly #waiting: Waiting
  #controller: Dispatcher.DispatchController | undefined
  #head: Pick<VendorAnswer, 'status' | 'headers'> = { status: 0, headers: {} }
  /** As stated, of an answer that is read whole. */
  #lengthBytes = Number.NaN
  /** The memory of an answer in several pieces whose length is stated. */
  #whole: Buffer<ArrayBuffer> | undefined
  readonly #pieces: Buffer<ArrayBuffer>[] = []
  #sizeBytes = 0
  #held: HeldResponse | undefined

  constructor(waiting: Waiting) {
    this.#waiting = waiting
    waiting.signal?.addEventListener('abort', this.#abort)
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#controller = controller
    if (this.#waiting.signal?.aborted) this.#abort()
  }

  onResponseStart(_: unknown, status: number, headers: VendorAnswer['headers']) {
    this.#head = { status, headers }
    if (!this.#isError) this.#lengthBytes = Number(headers['content-length'])
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity')
      this.#refuse(new Error(`the answer is compressed with ${encoding}`))
    else if (this.#lengthBytes > MAX_ANSWER_BYTES) this.#refuse(tooLong())
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer) {
    this.#keep(piece as Buffer<ArrayBuffer>)
    if (this.#isError && this.#sizeBytes > MAX_ERROR_BYTES) {
      this.onResponseEnd()
      controller.abort(new Error('the rest of an error is not read'))
    } else if (this.#sizeBytes > MAX_ANSWER_BYTES) this.#refuse(tooLong())
    else if (this.#sizeBytes > SMALL_BYTES) {
      // Not at once: undici's parsers cannot run within each other, and another answer ends in one of them.
      this.#held ??= this.#waiting.room().open(() => queueMicrotask(() => controller.resume()))
      if (!this.#held.grow(piece.byteLength)) controller.pause()
    }
  }

  onResponseEnd() {
    this.#waiting.signal?.removeEventListener('abort', this.#abort)
    this.#waiting.resolve(this.#answer())
  }

  onResponseError(_: unknown, error: Error) {
    this.#waiting.signal?.removeEventListener('abort', this.#abort)
    this.#held?.close()
    this.#waiting.reject(error)
  }

  async #answer(): Promise<VendorAnswer> {
    const [first] = this.#pieces
    const isOne = first && this.#pieces.length === 1
    const body = this.#whole ?? (isOne ? first : await joined(this.#pieces, this.#sizeBytes))
    this.#held?.close()
    return { ...this.#head, body }
  }

  get #isError() {
    return this.#head.status >= 400
  }

  #keep(piece: Buffer<ArrayBuffer>) {
    if (piece.byteLength < this.#lengthBytes) {
      this.#whole ??= Buffer.allocUnsafeSlow(this.#lengthBytes)
      this.#whole.set(piece, this.#sizeBytes)
    } else this.#pieces.push(piece)
    this.#sizeBytes += piece.byteLength
  }

  /** Nothing waits for a connection that is not there yet. */
  readonly #abort = () => this.#refuse(this.#waiting.signal?.reason)

  #refuse(error: unknown) {
    this.onResponseError(undefined, error as Error)
    this.#controller?.abort(error as Error)
  }
}

const tooLong = () => new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`)

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
