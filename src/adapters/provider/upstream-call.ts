import { isLongJson, jsonInPieces } from '../../json/pieces.ts'
import type { Done, Failed, ProviderFault } from '../../ports/provider.ts'
import type { RequestVendor, VendorAnswer, VendorRequest } from '../../ports/vendor-request.ts'
import { headerOf } from './callback.ts'
import { EventStream, isEventStream } from './event-stream.ts'
import { LargeFiles } from './large-files.ts'

/** The longest text of a provider that is shown to a client. */
const MAX_WORDS = 300

/** Error codes that prove that no byte of a request was sent. Other TLS errors may come later. */
const NOT_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT)$|CERT|VERIFY|HANDSHAKE|WRONG_VERSION/

/** Statuses with which a gateway does not say whether the request arrived. */
const UNKNOWN_STATUSES = [408, 502, 504, 520, 522, 524]

/** The meaning of a provider's refusal. */
type Meaning = 'content_rejected' | 'invalid_input' | 'unknown' | ProviderFault['kind']

/** A rule applies if all its conditions hold. The first rule that applies decides. */
interface FailureRule {
  status?: number
  /** Matches the provider's error code. */
  code?: RegExp
  /** Matches the provider's message. */
  message?: RegExp
  means: Meaning
}

/** The form in which a provider states its errors. */
export interface FailureForm {
  /** The name of the provider, for messages to the operator. */
  provider: string
  rules: readonly FailureRule[]
  /** Reads the parsed body of an error. */
  read(body: unknown): Reading
}

export interface Reading {
  code?: string | undefined
  message?: string | undefined
  /** The wait that the body asks for. A header takes precedence. */
  retryAfterMs?: number | undefined
}

/** A provider's response that is not a success. */
export interface Refusal extends Omit<VendorAnswer, 'body'> {
  /** Parsed JSON, or text. */
  body: unknown
}

/** An error that a vendor reports in a stream, with the status that it would have as a response. */
export class EventError extends Error {
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    super(`an error event like status ${status}`)
    this.status = status
    this.body = body
  }
}

/** Reads the events of an answer. */
export interface AnswerReader<Answer> {
  /** The answer so far, in the form that it would have without a stream. */
  readonly answer: Answer
  /** Takes an event. Throws an EventError for an error. */
  take(event: unknown): Arrival
}

export interface Arrival {
  /** Further text of the answer. */
  text?: string
  /** The memory of what the answer keeps beside its text. */
  keptBytes?: number
  /** Whether the text is whole now, or, in addition, the last event has come. */
  end?: 'whole' | 'last' | undefined
}

/** How long a vendor may keep a stream open after its last event. */
const ENDING_MS = 1_000

interface JsonRequest extends Pick<VendorRequest, 'headers' | 'signal' | 'readStream'> {
  body?: object | undefined
}

interface StreamRequest<Answer> extends Pick<JsonRequest, 'headers' | 'body'> {
  signal: AbortSignal
  reader: AnswerReader<Answer>
  onText(text: string): void
}

const JSON_TYPE = 'application/json'
const EVENTS_TYPE = 'text/event-stream'

/**
 * One call to a vendor, with or without the vendor's client. Makes at most one request: the automatic retries of some
 * clients would submit a paid job again.
 */
export class UpstreamCall {
  /** The headers of the response, which some clients drop. */
  headers: VendorAnswer['headers'] | undefined
  /** The large files of the request and the response. JSON has names in their place. */
  readonly files: LargeFiles
  #refusal: Refusal | undefined
  #hasSent = false
  /** Whether a piece of text was handed over. */
  #hasText = false
  #error: unknown
  readonly #request: RequestVendor

  constructor(request: RequestVendor, files = new LargeFiles()) {
    this.#request = request
    this.files = files
  }

  /** Throws for any status except 2xx, so that calls with and without a client fail alike. */
  async send(url: string, request: VendorRequest): Promise<VendorAnswer> {
    if (this.#hasSent) throw this.#error ?? new Error('this call has already sent its request')
    this.#hasSent = true
    try {
      const answer = await this.#request(url, this.files.insert(request), this.files.read)
      const { status, headers, body } = answer
      this.headers = headers
      if (status >= 200 && status < 300) return answer
      this.#refusal = { status, headers, body: parsed(body) }
      throw new Error(`status ${status}`)
    } catch (error) {
      this.#error = error
      if (error instanceof EventError) this.#refusal = { ...error, headers: {} }
      throw error
    }
  }

  /** GETs, or POSTs JSON. */
  async sendJson(url: string, { headers, body, ...request }: JsonRequest): Promise<VendorAnswer> {
    if (body === undefined) return this.send(url, { headers, ...request })
    const described = { 'content-type': JSON_TYPE, ...headers }
    if (isLongJson(body)) {
      const pieces: string[] = []
      for await (const piece of jsonInPieces(body)) pieces.push(piece)
      return this.send(url, { method: 'POST', ...request, ...this.files.inPieces(described, pieces) })
    }
    return this.send(url, { method: 'POST', headers: described, body: JSON.stringify(body), ...request })
  }

  /** GETs JSON, or POSTs JSON and gets JSON. */
  async json<Answer>(url: string, { headers, ...request }: JsonRequest): Promise<Answer> {
    const { body } = await this.sendJson(url, { ...request, headers: { accept: JSON_TYPE, ...headers } })
    return JSON.parse(body.toString())
  }

  /** The outcome of a stream. A text that comes as JSON is handed over as one piece. */
  async streamText<Answer>(
    url: string,
    request: StreamRequest<Answer>,
    outcomeOf: (answer: Answer) => Done | Failed,
  ): Promise<Done | Failed> {
    const outcome = outcomeOf(await this.#stream(url, request))
    if (outcome.kind === 'done' && outcome.text && !this.#hasText) request.onText(outcome.text.toWellFormed())
    return outcome
  }

  /**
   * POSTs JSON and gets a stream of events. Hands over their text as it will be kept: half a character waits for the
   * other half, or is replaced. Some servers send JSON all the same. Rejects if the stream ends before its text is
   * whole.
   */
  async #stream<Answer>(url: string, request: StreamRequest<Answer>): Promise<Answer> {
    const { headers, body, signal, reader, onText } = request
    const ending = new AbortController()
    let end: Arrival['end']
    let timer: NodeJS.Timeout | undefined
    let half = ''
    const hand = (text: string) => {
      if (text === '') return
      this.#hasText = true
      onText(text.toWellFormed())
    }
    const take = (event: unknown): number => {
      if (end === 'last') return 0
      const { text = '', keptBytes = 0, end: next } = reader.take(event)
      const known = half + text
      half = /[\ud800-\udbff]$/.test(known) ? known.slice(-1) : ''
      hand(half ? known.slice(0, -1) : known)
      end = next ?? end
      if (end === 'last') timer = setTimeout(() => ending.abort(), ENDING_MS)
      return Buffer.byteLength(text) + keptBytes
    }
    try {
      const answer = await this.sendJson(url, {
        headers: { accept: `${EVENTS_TYPE}, ${JSON_TYPE}`, ...headers },
        body,
        signal: AbortSignal.any([signal, ending.signal]),
        readStream: of => (isEventStream(of) ? new EventStream(take) : undefined),
      })
      if (!isEventStream(answer.headers)) return JSON.parse(answer.body.toString())
    } catch (error) {
      if (!end || error instanceof EventError || signal.aborted) throw error
    } finally {
      clearTimeout(timer)
    }
    if (!end) throw new Error('the answer ended too early')
    hand(half)
    return reader.answer
  }

  /**
   * Maps the error of the call. Rethrows an error after which the provider may have accepted the job, and every error
   * after a piece of its text. Removes `secrets` from the provider's text.
   */
  failure(error: unknown, form: FailureForm, secrets: readonly string[]): Failed {
    if (this.#hasText) throw this.unanswered(error, form)
    if (this.#refusal) {
      const meaning = meaningOf(this.#refusal, form)
      if (meaning === 'unknown') throw new Error(`${form.provider} answered with ${this.#refusal.status}`)
      const { status, headers, body } = this.#refusal
      const { message, retryAfterMs } = form.read(body)
      const failed = toFailed(meaning, retryAfterOf(headers) ?? retryAfterMs, wordsOf(message, secrets))
      // The status of an event is only a likeness.
      return this.#error instanceof EventError ? failed : { ...failed, status }
    }
    if (!this.#hasSent || !isBeforeConnection(this.#error)) throw this.unanswered(error, form)
    return toFailed('unreachable', undefined, '')
  }

  /** The response, if it was not a success. */
  get refusal(): Refusal | undefined {
    return this.#refusal
  }

  /** The reason for a missing response, for the log. Leaves out the body, which may hold private data. */
  unanswered(error: unknown, { provider }: Pick<FailureForm, 'provider'>): Error {
    if (this.#refusal) return new Error(`${provider} answered with ${this.#refusal.status}`)
    const code = codeOf(this.#error)
    if (code !== '') return new Error(`${provider} did not answer: ${code}`, { cause: this.#error })
    if (this.#error instanceof Error) return this.#error
    if (error instanceof SyntaxError) return new Error(`the answer of ${provider} is not JSON`)
    // A client's own errors may quote the response. An adapter's errors describe its fault.
    if (this.headers && !(error instanceof Error && error.name === 'Error'))
      return new Error(
        `the answer of ${provider} could not be read`,
        error instanceof TypeError ? { cause: error } : {},
      )
    return error instanceof Error ? error : new Error(`a call to ${provider} failed`)
  }

  /** The provider's refusal as text for the operator; undefined if there is none. */
  refusalText(form: FailureForm, secrets: readonly string[]): string | undefined {
    if (!this.#refusal) return undefined
    const words = wordsOf(form.read(this.#refusal.body).message, secrets)
    return `${form.provider} answered with ${this.#refusal.status}${words && `: ${words}`}`
  }
}

const meaningOf = ({ status, body }: Refusal, { rules, read }: FailureForm): Meaning => {
  const { code = '', message = '' } = read(body)
  const rule = rules.find(
    rule =>
      (rule.status === undefined || rule.status === status) &&
      (rule.code === undefined || rule.code.test(code)) &&
      (rule.message === undefined || rule.message.test(message)),
  )
  return rule?.means ?? byStatus(status)
}

const byStatus = (status: number): Meaning => {
  if (UNKNOWN_STATUSES.includes(status)) return 'unknown'
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 402) return 'out_of_quota'
  if (status === 404 || status === 410) return 'gone'
  if (status === 429) return 'rate_limited'
  // A redirect is not followed.
  if (status < 400) return 'unknown'
  return status < 500 ? 'invalid_input' : 'overloaded'
}

const toFailed = (meaning: Exclude<Meaning, 'unknown'>, retryAfterMs: number | undefined, words: string): Failed => {
  switch (meaning) {
    case 'content_rejected':
      return { kind: 'failed', code: 'content_rejected', message: 'The content policy of the provider forbids this.' }
    case 'invalid_input':
      return {
        kind: 'failed',
        code: 'invalid_input',
        message: words
          ? `The provider does not accept this input: ${words}`
          : 'The provider does not accept this input.',
      }
    default: {
      const fault: ProviderFault = { kind: meaning, ...(retryAfterMs !== undefined && { retryAfterMs }) }
      return { ...unavailable, retryable: true, fault }
    }
  }
}

/** The final outcome of a job that the provider accepted but could not do. */
export const jobFailed = (
  meaning: 'content_rejected' | 'invalid_input' | 'provider_error',
  message?: string,
  secrets: readonly string[] = [],
): Failed =>
  meaning === 'provider_error'
    ? { kind: 'failed', code: meaning, message: 'The provider could not do this.' }
    : toFailed(meaning, undefined, wordsOf(message, secrets))

/** The message of an outcome without text, if the model reached its limit of tokens. */
export const TOO_SHORT = 'The model used the whole length of the answer for thinking. Allow a longer answer.'

const unavailable = { kind: 'failed', code: 'provider_error', message: 'The provider is not available now.' } as const

/** Seconds or a date; https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
const retryAfterOf = (headers: VendorAnswer['headers']): number | undefined => {
  const inMs = headerOf(headers, 'retry-after-ms')
  const text = inMs ?? headerOf(headers, 'retry-after')
  if (!text) return undefined
  const scale = inMs === undefined ? 1000 : 1
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * scale : Date.parse(text) - Date.now()
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined
}

/** Longer than any word: it may be another form of the key, or the key of another customer. */
const TOKEN = /[\w+/=%-]{32,}/g

/** A provider's text without secrets, addresses and line breaks. */
const wordsOf = (message: string | undefined, secrets: readonly string[]): string => {
  let words = message ?? ''
  for (const secret of secrets) words = words.replaceAll(secret, '…')
  return words
    .replaceAll(/https?:\/\/\S+/gi, '…')
    .replaceAll(TOKEN, '…')
    .replaceAll(/\s+/g, ' ')
    .slice(0, MAX_WORDS)
    .toWellFormed()
    .trim()
}

/** Errors of an open connection come from reading or writing. */
const isBeforeConnection = (error: unknown): boolean => {
  const { code, syscall, cause } = (error ?? {}) as { code?: unknown; syscall?: unknown; cause?: unknown }
  if (typeof code === 'string') return NOT_CONNECTED.test(code) && syscall !== 'read' && syscall !== 'write'
  return cause !== undefined && isBeforeConnection(cause)
}

const codeOf = (error: unknown): string => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  if (typeof code === 'string') return code
  return cause === undefined ? '' : codeOf(cause)
}

const parsed = (body: Buffer): unknown => {
  const text = body.toString()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
