import { requestPlaces, runKey } from '../../projections/runs.ts'
import type { RunRequest } from '../../schemas/api/run.ts'
import type { Endpoint, Receipt } from '../../schemas/catalog.ts'
import {
  type AccountId,
  type KeyId,
  MAX_INPUT_BYTES,
  MAX_METADATA_BYTES,
  type RunId,
} from '../../schemas/primitives.ts'
import type { DueRow, RunRow } from '../../schemas/views.ts'
import { recall } from '../domain/account/runs.ts'
import type { RememberedRequest } from '../domain/account/state.ts'
import { chooseEndpoint } from '../domain/catalog/choose-endpoint.ts'
import { price } from '../domain/catalog/pricing.ts'
import { fromMicros } from '../domain/money.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import { Unavailable } from '../ports/faults.ts'
import type { Accounts } from './accounts.ts'
import { ApiError } from './api-error.ts'
import { canonicalJson, sha256 } from './canonical.ts'
import type { Catalog } from './catalog.ts'
import { newRunId } from './ids.ts'
import type { Reads } from './reads.ts'
import type { Watch } from './watch.ts'

/** Who asks for a run, and how. */
export interface Asker {
  accountId: AccountId
  keyId: KeyId
  requestId: string
}

export interface RunOptions {
  idempotencyKey?: string | undefined
  /** How long the answer may be held; undefined leaves it to the endpoint's mode. */
  waitMs?: number | undefined
  /** Ends the waiting, and nothing else. */
  signal?: AbortSignal | undefined
}

/** Whoever does the work: see `src/reactors/runs.ts`. */
export interface Starter {
  /** Takes one of the provider's free slots; false when there is none. */
  reserve(provider: string): boolean
  unreserve(provider: string): void
  /** Begins a run whose start is durable, in a slot that was reserved. */
  begin(run: RunToDo): void
}

export type RunToDo = Pick<DueRow, 'accountId' | 'runId' | 'endpoint' | 'provider' | 'timeoutMs' | 'input'>

/** How long the answer to a sync run is held when the client does not say. */
const SYNC_WAIT_MS = 60_000

export interface RunsParts {
  accounts: Accounts
  catalog: Catalog
  reads: Reads
  watch: Watch
  starter: Starter
  clock: Clock
  usdPerCreditMicros: number
}

/** Takes requests for runs: recalls, prices, queues and waits. */
export class Runs {
  readonly #parts: RunsParts

  constructor(parts: RunsParts) {
    this.#parts = parts
  }

  /** Runs a model. Resolves to the run as far as it is when the waiting ends. Rejects with ApiError or Unavailable. */
  async run(asker: Asker, request: RunRequest, options: RunOptions): Promise<{ row: RunRow; replayed: boolean }> {
    const { idempotencyKey: key } = options
    const idempotency = key === undefined ? undefined : { key, requestHash: sha256(canonicalJson(request)) }
    const earlier = key === undefined ? undefined : await this.#recall(asker.accountId, key)
    if (idempotency && earlier) {
      if (earlier.requestHash !== idempotency.requestHash) throw refused({ code: 'idempotency_mismatch' })
      return { row: await this.#wait(asker.accountId, earlier.runId, options), replayed: true }
    }

    const { endpoint, input, receipt } = await this.price(asker.accountId, request)
    const { accounts, starter, clock } = this.#parts
    const { provider, timeoutMs, mode } = endpoint
    const runId = newRunId()
    const startNow = mode === 'sync' && starter.reserve(provider)
    const outcome = await accounts
      .execute(
        asker.accountId,
        {
          type: 'QueueRun',
          keyId: asker.keyId,
          atMs: clock.nowMs(),
          run: {
            runId,
            model: receipt.model,
            endpoint: endpoint.id,
            mode,
            provider,
            timeoutMs,
            input,
            ...(request.metadata && { metadata: request.metadata }),
            ...(request.webhook_url !== undefined && { webhookUrl: request.webhook_url }),
            ...(idempotency && { idempotency }),
          },
          receipt,
          startNow,
        },
        { actor: { kind: 'key', keyId: asker.keyId }, requestId: asker.requestId },
      )
      .catch(error => {
        if (startNow) starter.unreserve(provider)
        throw error
      })
    const begins = startNow && !('refuse' in outcome) && outcome.repeatOf === undefined
    if (begins) starter.begin({ accountId: asker.accountId, runId, endpoint: endpoint.id, provider, timeoutMs, input })
    else if (startNow) starter.unreserve(provider)
    if ('refuse' in outcome) throw refused(outcome.refuse)
    const waitMs = options.waitMs ?? (mode === 'sync' ? SYNC_WAIT_MS : 0)
    const { repeatOf } = outcome
    const row = await this.#wait(asker.accountId, repeatOf ?? runId, { ...options, waitMs }).catch(error => {
      if (repeatOf || !(error instanceof Unavailable)) throw error
      // The run is accepted and charged, whatever the views can show of it; so the client is told its id.
      return acceptedRow(asker.accountId, runId, receipt, { startNow, atMs: clock.nowMs() })
    })
    return { row, replayed: repeatOf !== undefined }
  }

  /** What a request asks for and what it costs. Rejects with ApiError where it asks for nothing that there is. */
  async price(
    accountId: AccountId,
    { model, input: given, metadata, webhook_url }: RunRequest,
  ): Promise<{ endpoint: Endpoint; input: Record<string, unknown>; receipt: Receipt }> {
    const { catalog, reads, usdPerCreditMicros } = this.#parts
    if (metadata) boundedJson('/metadata', metadata, MAX_METADATA_BYTES)
    const inputJson = boundedJson('/input', given, MAX_INPUT_BYTES)
    if (webhook_url !== undefined) checkWebhookUrl(webhook_url)
    const account = await reads.get('accounts', accountId)
    const offer = await catalog.find(model, account?.tester ?? false)
    if (!offer)
      throw new ApiError(
        'model_not_found',
        `There is no model ${JSON.stringify(model)}; GET /v1/models lists those there are.`,
      )
    const endpoint = chooseEndpoint(offer.family, given)
    if (!endpoint) {
      const kinds = offer.family.endpoints.map(one => one.kind).join(', ')
      const message = `${offer.family.id} has only these kinds: ${kinds}. With image_url an image-to-* kind is chosen, else a text-to-* one.`
      throw new ApiError('invalid_input', message, {
        errors: [{ path: '/input', message: 'asks for a kind that the model does not have' }],
      })
    }
    // A copy, since defaults are filled in.
    const input: Record<string, unknown> = JSON.parse(inputJson)
    const errors = catalog.fill(endpoint, input)
    if (errors.length > 0)
      throw new ApiError('invalid_input', `The input does not fit the parameters_schema of ${endpoint.id}.`, {
        errors: errors.map(({ path, message }) => ({ path: `/input${path}`, message })),
      })
    const { lines, totalMicros } = price(endpoint.pricing, input, usdPerCreditMicros)
    const receipt = {
      catalogRevision: offer.revision,
      model: offer.family.id,
      endpoint: endpoint.id,
      lines,
      totalMicros,
    }
    return { endpoint, input, receipt }
  }

  /** An account's own run; undefined for any other, whether it exists or not. */
  async find(accountId: AccountId, runId: RunId): Promise<RunRow | undefined> {
    await this.#parts.reads.ownWrites(accountId)
    return this.#parts.reads.get('runs', runKey(accountId, runId))
  }

  async #recall(accountId: AccountId, key: string): Promise<RememberedRequest | undefined> {
    const { accounts, reads, clock } = this.#parts
    const state = await accounts.state(accountId)
    const found = recall(key, clock.nowMs(), state)
    if (found || !state.forgetful) return found
    await reads.ownWrites(accountId)
    const [entry] = await reads.list('runs', 'byRequest', {
      prefix: requestPlaces(accountId, key),
      newestFirst: true,
      limit: 1,
    })
    if (!entry?.row.request) return undefined
    const { runId, createdAt, request } = entry.row
    return recall(key, clock.nowMs(), state, { runId, requestHash: request.hash, atMs: Date.parse(createdAt) })
  }

  /** The run as it is when it has ended, or when the waiting has. */
  async #wait(accountId: AccountId, runId: RunId, { waitMs = SYNC_WAIT_MS, signal }: RunOptions): Promise<RunRow> {
    const { watch } = this.#parts
    const endMs = performance.now() + waitMs
    while (true) {
      // The waiting begins before the look, so that no change falls between them.
      const remainingMs = Math.max(0, endMs - performance.now())
      const waiting = watch.begin('runs', runKey(accountId, runId), remainingMs, signal)
      try {
        const row = await this.find(accountId, runId)
        if (!row) throw new Error(`the run ${runId} is not in the views, which have passed it`)
        const ended = row.status === 'completed' || row.status === 'failed' || remainingMs === 0
        if (ended || !(await waiting.changed)) return row
      } finally {
        waiting.end()
      }
    }
  }
}

/** A run as it is known from its acceptance alone. */
const acceptedRow = (
  accountId: AccountId,
  runId: RunId,
  { model, endpoint, totalMicros }: Receipt,
  { startNow, atMs }: { startNow: boolean; atMs: number },
): RunRow => ({
  accountId,
  runId,
  status: startNow ? 'processing' : 'queued',
  model,
  endpoint,
  createdAt: new Date(atMs).toISOString(),
  chargedMicros: totalMicros,
})

const boundedJson = (path: string, value: object, limit: number): string => {
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > limit)
    throw new ApiError('invalid_request', `${path} is larger than ${limit} bytes.`, {
      errors: [{ path, message: `must be at most ${limit} bytes of JSON` }],
    })
  return text
}

const checkWebhookUrl = (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new ApiError('invalid_request', 'webhook_url must be an http or https URL.', {
      errors: [{ path: '/webhook_url', message: 'must be an http or https URL' }],
    })
}

const refused = (refusal: Refusal): ApiError => {
  switch (refusal.code) {
    case 'insufficient_credits': {
      const required = fromMicros(refusal.requiredMicros)
      const balance = fromMicros(refusal.balanceMicros)
      return new ApiError('insufficient_credits', `The run costs ${required} credits and the balance is ${balance}.`, {
        required_credits: required,
        credits_balance: balance,
      })
    }
    case 'key_not_found':
      return new ApiError('invalid_api_key', 'This API key was revoked.')
    case 'idempotency_mismatch':
      return new ApiError(
        'idempotency_mismatch',
        'This Idempotency-Key was used in the last 24 hours for another request.',
      )
    default:
      throw new Error(`a run was refused for a reason that no request can cause: ${refusal.code}`)
  }
}
