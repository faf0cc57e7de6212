import { request } from 'node:http'
import type { Balance } from '../../schemas/api/balance.ts'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { Run } from '../../schemas/api/run.ts'
import { checkAnswer } from './document.ts'

/** A fully read response. A body that is not JSON is left as text. */
export interface Reply<Body = Run & ErrorBody> {
  status: number
  headers: Headers
  text: string
  body: Body
}

export interface Sending {
  method?: string
  headers?: Record<string, string>
  /** Sent unchanged. A body that is not text has no content type by default. */
  body?: string | Uint8Array
  signal?: AbortSignal
}

/** A small HTTP client, with or without a key. It checks every response against the OpenAPI document. */
export class Client {
  readonly url: string
  readonly #apiKey: string | undefined
  readonly #headers: Record<string, string>

  constructor(url: string, apiKey?: string) {
    this.#apiKey = apiKey
    // Resolving localhost would first try addresses that nothing listens on.
    this.url = url.replace('//localhost', '//127.0.0.1')
    this.#headers = apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }
  }

  /** The same client for another base URL. */
  at(url: string): Client {
    return new Client(url, this.#apiKey)
  }

  async send<Body = Run & ErrorBody>(
    path: string,
    { method = 'GET', headers, body, signal }: Sending = {},
  ): Promise<Reply<Body>> {
    const answer = await fetch(this.url + path, {
      method,
      headers: { ...this.#headers, ...headers },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
    const text = await answer.text()
    checkAnswer(method, path, { status: answer.status, headers: answer.headers, text })
    const isJson = text !== '' && answer.headers.get('Content-Type')?.startsWith('application/json')
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : text }
  }

  post<Body = Run & ErrorBody>(path: string, body: unknown, headers: Record<string, string> = {}) {
    return this.send<Body>(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }

  run(request: object, headers: Record<string, string> = {}): Promise<Reply> {
    return this.post('/v1/run', request, headers)
  }

  async balance(): Promise<number> {
    return (await this.send<Balance>('/v1/balance')).body.credits_balance
  }

  /** Sends a path and headers verbatim, where fetch would normalise them and add some. */
  sendRaw(path: string, { method = 'GET', headers, body }: Sending = {}): Promise<Omit<Reply, 'body'>> {
    return new Promise((resolve, reject) => {
      const options = { method, path, headers: { ...this.#headers, ...headers } }
      const sent = request(this.url, options, async answer => {
        let text = ''
        for await (const piece of answer.setEncoding('utf8')) text += piece
        const answered = new Headers(Object.entries(answer.headers) as [string, string][])
        const reply = { status: answer.statusCode ?? 0, headers: answered, text }
        try {
          // A path may be a whole URL.
          checkAnswer(method, path.replace(this.url, ''), reply)
          resolve(reply)
        } catch (error) {
          reject(error)
        }
      })
      // Without a body, no Content-Length either, like curl.
      if (body === undefined) sent.useChunkedEncodingByDefault = false
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

/** A run as lists, webhooks, event streams and tools show it. */
export const withoutInput = ({ input, ...run }: Run): Run => run

/** An image for 10 credits. */
export const picture = { model: 'nano-banana-2', input: { prompt: 'a lighthouse at dusk' } }

/** A request to the test family, for 1 credit. */
export const sandbox = (input: { delay_ms?: number; outcome?: string; prompt?: string } = {}) => ({
  model: 'sandbox',
  input: { prompt: 'hello', ...input },
})
