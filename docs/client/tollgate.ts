import { setTimeout as sleep } from 'node:timers/promises'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

export type Run = components['schemas']['Run']
export type RunRequest = components['schemas']['RunRequest']
export type Quote = components['schemas']['Quote']
export type Upload = components['schemas']['Upload']
export type ApiFault = components['schemas']['ErrorBody']['error']

/** What the API refuses. Its `fault.code` is from a closed list. */
export class TollgateError extends Error {
  override name = 'TollgateError'
  readonly fault: ApiFault

  constructor(fault: ApiFault) {
    super(`${fault.code}: ${fault.message} (request ${fault.request_id})`)
    this.fault = fault
  }
}

/** How often a request is sent while the service is away. */
const ATTEMPTS = 5

export class Tollgate {
  readonly #api

  constructor({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
    this.#api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` }, fetch: patientFetch })
  }

  /** What a run would cost. Nothing is charged. */
  async quote(body: RunRequest): Promise<Quote> {
    const answer = await this.#api.POST('/v1/run', { params: { query: { dry_run: 'true' } }, body })
    const quote = taken(answer)
    if (quote.object !== 'quote') throw new Error('a dry run is answered with a quote')
    return quote
  }

  /**
   * Begins a run. It is charged once, however often the request is sent, because all attempts have the same key. Give a key of
   * your own, and keep it, where your program may end before the answer has come.
   */
  async begin(body: RunRequest, idempotencyKey: string = crypto.randomUUID()): Promise<Run> {
    const answer = await this.#api.POST('/v1/run', { params: { header: { 'Idempotency-Key': idempotencyKey } }, body })
    const run = taken(answer)
    if (run.object !== 'run') throw new Error('a run is answered with a run')
    return run
  }

  /** Waits for a run to end. Whether it has a result is what its `status` says; a failed one was refunded. */
  async ended({ run_id }: Run): Promise<Run> {
    for (;;) {
      const run = taken(await this.#api.GET('/v1/runs/{id}', { params: { path: { id: run_id } } }))
      if (run.status === 'completed' || run.status === 'failed') return run
      await sleep(POLL_MS)
    }
  }

  /** Sends a file. Its `url` can be given as `image_url`. */
  async upload(file: File): Promise<Upload> {
    const form = new FormData()
    form.append('file', file)
    // OpenAPI has no type for files in forms, so that it is a string in the generated types.
    return taken(await this.#api.POST('/v1/uploads', { body: form as never }))
  }

  async balance(): Promise<number> {
    return taken(await this.#api.GET('/v1/balance')).credits_balance
  }
}

/** Often enough for films, which take a minute or more. */
const POLL_MS = 2000

/** The body of an answer, or the refusal as an exception. */
const taken = <Body>({ data, error }: { data?: Body; error?: { error: ApiFault } }): Body => {
  if (error) throw new TollgateError(error.error)
  return data as Body
}

/**
 * Sends a request again when the connection is lost or the service says that it is away, for as long as it says. What runs a model
 * has an idempotency key. An upload that is sent again is a second one, which costs nothing.
 */
const patientFetch = async (request: Request): Promise<Response> => {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(request.clone()).catch((lost: Error) => {
      if (attempt === ATTEMPTS) throw lost
    })
    if (answer && (answer.status !== 503 || attempt === ATTEMPTS)) return answer
    await answer?.body?.cancel()
    await sleep(1000 * Number(answer?.headers.get('Retry-After') ?? attempt))
  }
}
