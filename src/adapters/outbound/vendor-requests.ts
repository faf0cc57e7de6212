import type { Dispatcher } from 'undici'
import type { LongBody, ReadLong, RequestVendor, VendorAnswer, VendorRequest } from '../../ports/vendor-request.ts'
import { openProxyAgent, type ProxySettings } from './proxy.ts'
import { type HeldResponse, ResponseMemory } from './response-memory.ts'

/** Runs skip a provider that cannot be reached. DNS, TCP and TLS take several round trips. */
const CONNECT_TIMEOUT_MS = 10_000

/** Shorter than the keep-alive of servers, so that requests rarely use a connection that its server has just closed. */
const KEEP_ALIVE_MS = 4_000

/** Far more than responses with pictures in Base64 or a film of minutes have. Larger results come as addresses. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024

/**
 * Shorter responses are read whole, and their memory is not limited: even one per call takes little. Errors are read up
 * to this size.
 */
const SHORT_BYTES = 64 * 1024

export interface VendorRequests {
  request: RequestVendor
  close(): Promise<void>
}

interface Options {
  /** The memory that long responses take together. */
  memoryBytes: number
  proxy?: ProxySettings | undefined
}

/**
 * Sends requests to vendors. The operator configures the addresses, which may be private. Only the caller limits the
 * time. Follows no redirect, since the key would be sent along.
 */
export const openVendorRequests = ({ memoryBytes, proxy }: Options): VendorRequests => {
  let agent: Promise<Dispatcher> | undefined
  const memory = new ResponseMemory(memoryBytes)
  return {
    request: async (url, { method = 'GET', headers, body = null, signal, readStream }, readLong) => {
      agent ??= openAgent(proxy)
      const dispatcher = await agent
      signal?.throwIfAborted()
      const { origin, pathname, search } = new URL(url)
      const options = { origin, path: pathname + search, method, body } as Dispatcher.DispatchOptions
      options.headers = { 'accept-encoding': 'identity', ...headers }
      return new Promise((resolve, reject) => {
        dispatcher.dispatch(options, new Reading({ resolve, reject, signal, readLong, readStream, origin, memory }))
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

interface Waiting extends Pick<VendorRequest, 'signal' | 'readStream'> {
  resolve(answer: VendorAnswer): void
  reject(error: unknown): void
  readLong: ReadLong
  origin: string
  memory: ResponseMemory
}

/** A body that is too long to be held as it is, or a stream. */
interface LongReading {
  body: LongBody
  /** Missing while it takes as little memory as a short body. */
  held?: HeldResponse
  /** Whether the body takes no more bytes at the moment. */
  isBusy: boolean
}

/** Reads a response as it arrives. Takes half the time of undici's `request`, which makes a stream of each response. */
class Reading implements Dispatcher.DispatchHandler {
  readonly #waiting: Waiting
  #controller: Dispatcher.DispatchController | undefined
  #head: Pick<VendorAnswer, 'status' | 'headers'> = { status: 0, headers: {} }
  readonly #pieces: Buffer<ArrayBuffer>[] = []
  #sizeBytes = 0
  #long: LongReading | undefined

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
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity')
      this.#refuse(new Error(`the answer is compressed with ${encoding}`))
    else if (!this.#isError && Number(headers['content-length']) > MAX_ANSWER_BYTES) this.#refuse(tooLong())
    else if (status < 300) this.#beginStream(headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer) {
    const piece = bytes as Buffer<ArrayBuffer>
    this.#sizeBytes += piece.byteLength
    if (!this.#long && this.#sizeBytes <= SHORT_BYTES) this.#pieces.push(piece)
    else if (this.#isError) {
      this.#pieces.push(piece)
      this.onResponseEnd()
      controller.abort(new Error('the rest of an error is not read'))
    } else if (this.#sizeBytes > MAX_ANSWER_BYTES) this.#refuse(tooLong())
    else this.#pass(piece, controller)
  }

  onResponseEnd() {
    this.#waiting.signal?.removeEventListener('abort', this.#abort)
    const { resolve, reject } = this.#waiting
    const [first] = this.#pieces
    if (this.#long) this.#endLong(this.#long).then(resolve, reject)
    else resolve({ ...this.#head, body: first && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces) })
  }

  onResponseError(_: unknown, error: Error) {
    this.#waiting.signal?.removeEventListener('abort', this.#abort)
    this.#long?.held?.close()
    this.#waiting.reject(error)
  }

  get #isError() {
    return this.#head.status >= 400
  }

  /** Passes on bytes of a long body, and pauses the response until the body and the memory can take more. */
  #pass(piece: Buffer<ArrayBuffer>, controller: Dispatcher.DispatchController) {
    this.#long ??= { body: this.#waiting.readLong(this.#head.headers), isBusy: false }
    const long = this.#long
    const all = this.#pieces.length === 0 ? piece : Buffer.concat([...this.#pieces.splice(0), piece])
    const written = long.body.write(all)
    long.isBusy = written !== undefined
    if (!this.#hold(long, controller) || written) controller.pause()
    written?.then(
      () => {
        long.isBusy = false
        this.#resume(long, controller)
      },
      error => this.#refuse(error),
    )
  }

  #beginStream(headers: VendorAnswer['headers']) {
    const body = this.#waiting.readStream?.(headers)
    if (body) this.#long = { body, isBusy: false }
  }

  /** Whether the body may take more memory than it has now. */
  #hold(long: LongReading, controller: Dispatcher.DispatchController): boolean {
    const { memory, origin } = this.#waiting
    const { heldBytes } = long.body
    if (!long.held && heldBytes > SHORT_BYTES) long.held = memory.open(origin, () => this.#resume(long, controller))
    return long.held?.hold(heldBytes) ?? true
  }

  /** Resumes later: another response ends inside one of undici's parsers, which cannot run within each other. */
  #resume(long: LongReading, controller: Dispatcher.DispatchController) {
    if (!long.isBusy && this.#hold(long, controller)) queueMicrotask(() => controller.resume())
  }

  async #endLong(long: LongReading): Promise<VendorAnswer> {
    try {
      return { ...this.#head, body: await long.body.end() }
    } finally {
      long.held?.close()
    }
  }

  /** Also ends a request that still waits for its connection. */
  readonly #abort = () => this.#refuse(this.#waiting.signal?.reason)

  #refuse(error: unknown) {
    this.onResponseError(undefined, error as Error)
    this.#controller?.abort(error as Error)
  }
}

const tooLong = () => new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`)
