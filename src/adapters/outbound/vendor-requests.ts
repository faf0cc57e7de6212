import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { RequestVendor, VendorAnswer } from '../../ports/vendor-request.ts'
import { openProxyAgent, type ProxySettings } from './proxy.ts'
import { type HeldResponse, ResponseMemory } from './response-memory.ts'

/** Runs skip a provider that cannot be reached. DNS, TCP and TLS take several round trips. */
const CONNECT_TIMEOUT_MS = 10_000

/** Shorter than the keep-alive of servers, so that requests rarely use a connection that its server has just closed. */
const KEEP_ALIVE_MS = 4_000

/** Far more than responses with pictures in Base64 or a film of minutes have. Larger results come as addresses. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024

/** The memory for concurrent responses of one server: a few with films, or hundreds of common size. */
const ROOM_BYTES = MAX_ANSWER_BYTES

/** Shorter responses are not limited. Even one per call takes little memory. */
const SMALL_BYTES = 256 * 1024

/** Errors are read up to this size. */
const MAX_ERROR_BYTES = 64 * 1024

/** Copying this much takes about a millisecond. */
const JOINED_BYTES = 1024 * 1024

export interface VendorRequests {
  request: RequestVendor
  close(): Promise<void>
}

/**
 * Sends requests to vendors. The operator configures the addresses, which may be private. Only the caller limits the
 * time. Follows no redirect, since the key would be sent along.
 */
export const openVendorRequests = (proxy?: ProxySettings): VendorRequests => {
  let agent: Promise<Dispatcher> | undefined
  /** Per server, so that a slow server delays no other. */
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

/** Reads a response as it arrives. Takes half the time of undici's `request`, which makes a stream of each response. */
class Reading implements Dispatcher.DispatchHandler {
  readonly #waiting: Waiting
  #controller: Dispatcher.DispatchController | undefined
  #head: Pick<VendorAnswer, 'status' | 'headers'> = { status: 0, headers: {} }
  /** The stated length of a response that is read whole. */
  #lengthBytes = Number.NaN
  /** The memory of a response that has a stated length and arrives in several pieces. */
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
    // Interim responses, such as 103, describe no body of their own.
    if (status < 200) return
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
      // Resumes later: another response ends inside one of undici's parsers, which cannot run within each other.
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

  /** Also ends a request that still waits for its connection. */
  readonly #abort = () => this.#refuse(this.#waiting.signal?.reason)

  #refuse(error: unknown) {
    this.onResponseError(undefined, error as Error)
    this.#controller?.abort(error as Error)
  }
}

const tooLong = () => new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`)

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
