import { setTimeout as sleep } from 'node:timers/promises'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

export type Run = components['schemas']['Run']
export type RunRequest = components['schemas']['RunRequest']
export type Quote = components['schemas']['Quote']
export type Upload = components['schemas']['Upload']
export type ApiFault = components['schemas']['ErrorBody']['error']

/** An error of the API. Its `fault.code` is from a closed list. */
export class TollgateError extends Error {
  override name = 'TollgateError'
  readonly fault: ApiFault

  constructor(fault: ApiFault) {
    super(`${fault.code}: ${fault.message} (request ${fault.request_id})`)
    this.fault = fault
  }
}

/** The number of attempts while the service is unavailable. */
const ATTEMPTS = 5

export class Tollgate {
  readonly #api

  constructor({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
    this.#api = createClient<paths, 'application/json'>({
      baseUrl,
      headers: { Authorization: `Bearer ${apiKey}` },
      fetch: fetchWithRetry,
    })
  }

  /** Returns the price of a run without charging it. */
  async quote(body: RunRequest): Promise<Quote> {
    const response = await this.#api.POST('/v1/run', { params: { query: { dry_run: true } }, body })
    const quote = unwrap(response)
    if (quote.object !== 'quote') throw new Error('expected a quote for a dry run')
    return quote
  }

  /**
   * Starts a run. All attempts have the same idempotency key, so the run is charged once. If your program may end
   * before the response arrives, store a key first and pass it.
   */
  async run(body: RunRequest, idempotencyKey: string = crypto.randomUUID()): Promise<Run> {
    const response = await this.#api.POST('/v1/run', {
      params: { header: { 'Idempotency-Key': idempotencyKey } },
      body,
    })
    const run = unwrap(response)
    if (run.object !== 'run') throw new Error('expected a run')
    return run
  }

  /** Polls a run until it has ended. Check its `status`: a failed run was refunded. */
  async waitFor({ run_id }: Run): Promise<Run> {
    for (;;) {
      const run = unwrap(await this.#api.GET('/v1/runs/{id}', { params: { path: { id: run_id } } }))
      if (run.status === 'completed' || run.status === 'failed') return run
      await sleep(POLL_MS)
    }
  }

  /** Uploads a file. Its `url` can be used as `image_url` or `video_url`. */
  async upload(file: File): Promise<Upload> {
    const form = new FormData()
    form.append('file', file)
    return unwrap(await this.#api.POST('/v1/uploads', { body: { file }, bodySerializer: () => form }))
  }

  async balance(): Promise<number> {
    return unwrap(await this.#api.GET('/v1/balance')).credits_balance
  }
}

/** Videos take a minute or more. */
const POLL_MS = 2000

/** Returns the body of a response, or throws its error. */
const unwrap = <Body>({ data, error }: { data?: Body; error?: { error: ApiFault } }): Body => {
  if (error) throw new TollgateError(error.error)
  return data as Body
}

/**
 * Retries a request after a lost connection or a 503, and respects Retry-After. Runs have an idempotency key. A
 * repeated upload creates a second upload, which costs nothing.
 */
const fetchWithRetry = async (request: Request): Promise<Response> => {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone()).catch((lost: Error) => {
      if (attempt === ATTEMPTS) throw lost
    })
    if (response && (response.status !== 503 || attempt === ATTEMPTS)) return response
    await response?.body?.cancel()
    await sleep(1000 * Number(response?.headers.get('Retry-After') ?? attempt))
  }
}
