import { fold } from '../../../projections/projection.ts'
import { runs as runView } from '../../../projections/runs.ts'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { RunRequest } from '../../../schemas/api/run.ts'
import { type AccountId, IDEMPOTENCY_HOURS, type RunId } from '../../../schemas/primitives.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { RunRow, WatchTask } from '../../../schemas/views.ts'
import { fromMicros } from '../../domain/money.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { canonicalJson, sha256 } from '../../engine/log/canonical.ts'
import { Unavailable } from '../../ports/faults.ts'
import { ApiError, keyRevoked } from '../api-error.ts'
import { type Asker, causeOf } from '../asker.ts'
import { newRunId } from '../ids.ts'
import type { Quotes } from './quotes.ts'
import { type RecallParts, recallRequest } from './recall-request.ts'
import type { RunReads } from './run-reads.ts'

export interface RunOptions {
  idempotencyKey?: string | undefined
  /** How long the answer may be held; undefined leaves it to the endpoint's mode. */
  waitMs?: number | undefined
  /** A signal that ends the waiting, and nothing else. */
  gone?: (() => AbortSignal) | undefined
}

/** Whoever does the work: see `src/reactors/runs.ts`. */
export interface Starter {
  /** Takes one of the provider's free slots; false when there is none. */
  reserve(provider: string): boolean
  unreserve(provider: string): void
  /** Begins a run whose start is durable, in a slot that was reserved. Resolves to the events that ended it. */
  begin(run: RunToDo): Promise<Recorded<AccountEvent>[]>
}

export type RunToDo = Omit<WatchTask, 'task' | 'queue' | 'dueAt' | 'cancelRequested' | 'webhookUrl'>

/** A run as far as it is. `replayed` when an earlier, equal request had begun it. */
export interface RunAnswer {
  row: RunRow
  replayed: boolean
}

/** How long the answer to a sync run is held when the client does not say. */
const SYNC_WAIT_MS = 60_000

/** How long the answer to a cancellation waits for the provider to stop. */
const CANCEL_WAIT_MS = 5_000

export interface RunsParts extends RecallParts {
  quotes: Quotes
  runReads: RunReads
  starter: Starter
}

/** Takes requests for runs: recalls, queues, begins and waits. */
export class Runs {
  readonly #parts: RunsParts

  constructor(parts: RunsParts) {
    this.#parts = parts
  }

  /** Runs a model. Resolves to the run as far as it is when the waiting ends. Rejects with ApiError or Unavailable. */
  async run(asker: Asker, request: RunRequest, options: RunOptions): Promise<RunAnswer> {
    const { accounts, quotes, starter, clock } = this.#parts
    const { accountId, keyId } = asker
    const { idempotencyKey: key } = options
    const idempotency = key === undefined ? undefined : { key, requestHash: sha256(canonicalJson(request)) }
    const repeated = idempotency && (await this.#repeat(accountId, idempotency, options))
    if (repeated) return repeated

    const quote = await quotes.quote(asker, request).catch(error => error as Error)
    if (quote instanceof Error) {
      // What is not to be had any more may have been accepted by another process, under this very key.
      const accepted = idempotency && (await this.#repeat(accountId, idempotency, options, 'afresh'))
      if (accepted) return accepted
      throw quote
    }
    const { endpoint, input, receipt } = quote
    const { provider, timeoutMs, retry, mode } = endpoint
    const runId = newRunId()
    const startNow = mode === 'sync' && starter.reserve(provider)
    const run = {
      runId,
      model: receipt.model,
      endpoint: endpoint.id,
      mode,
      provider,
      timeoutMs,
      ...(retry && { retry }),
      input,
      ...(request.metadata && { metadata: request.metadata }),
      ...(request.webhook_url !== undefined && { webhookUrl: request.webhook_url }),
      ...(idempotency && { idempotency }),
    }
    const command = { type: 'QueueRun', keyId, atMs: clock.nowMs(), run, receipt, startNow } as const
    const outcome = await accounts.execute(accountId, command, causeOf(asker)).catch(error => {
      if (startNow) starter.unreserve(provider)
      throw error
    })
    const isAccepted = !('refuse' in outcome) && outcome.repeatOf === undefined
    if (startNow && !isAccepted) starter.unreserve(provider)
    if ('refuse' in outcome) throw refused(outcome.refuse)
    if (outcome.repeatOf) return this.#replay(accountId, outcome.repeatOf, options)

    const row = fold(runView, outcome.accept) as RunRow
    if (startNow) {
      const waitMs = options.waitMs ?? defaultWaitMs(row)
      const untilMs = performance.now() + waitMs
      const ended = starter.begin({ ...run, accountId, startedAt: row.startedAt as string })
      const events = await within(waitMs, ended)
      // No events: an append whose answer was lost has ended the run, or another process has. Only the views show how.
      if (events?.length !== 0) return { row: fold(runView, events ?? [], row) as RunRow, replayed: false }
      return { row: await this.#shown(row, { ...options, waitMs: untilMs - performance.now() }), replayed: false }
    }
    return { row: await this.#shown(row, options), replayed: false }
  }

  /**
   * Asks for a run to be given up. Resolves to the run when that has happened, or as it is when the waiting ends. Rejects
   * with ApiError where the account has no such run, and when it has ended.
   */
  async cancel(asker: Asker, id: string, { waitMs = CANCEL_WAIT_MS, gone }: RunOptions): Promise<RunRow> {
    const { accounts, runReads } = this.#parts
    const { accountId } = asker
    const row = await runReads.find(accountId, id)
    const command = { type: 'CancelRun', runId: row.runId } as const
    const outcome = await accounts.execute(accountId, command, causeOf(asker))
    if ('refuse' in outcome) throw new ApiError('run_ended', 'The run has already ended.')
    return this.#whenEnded(fold(runView, outcome.accept, row) as RunRow, { waitMs, gone })
  }

  /** The answer to a request that was made before; undefined where there is none. `afresh` asks the log what others have accepted. */
  async #repeat(
    accountId: AccountId,
    { key, requestHash }: { key: string; requestHash: string },
    options: RunOptions,
    how?: 'afresh',
  ): Promise<RunAnswer | undefined> {
    const earlier = await recallRequest(this.#parts, accountId, key, how)
    if (!earlier) return undefined
    if (earlier.requestHash !== requestHash) throw refused({ code: 'idempotency_mismatch' })
    return this.#replay(accountId, earlier.runId, options)
  }

  async #replay(accountId: AccountId, runId: RunId, options: RunOptions): Promise<RunAnswer> {
    const row = await this.#parts.runReads.getExisting(accountId, runId)
    return { row: await this.#whenEnded(row, options), replayed: true }
  }

  /** The run is accepted and charged, whatever the views can show of it, so the client always learns its id. */
  #shown(row: RunRow, options: RunOptions): Promise<RunRow> {
    return this.#whenEnded(row, options).catch(error => {
      if (error instanceof Unavailable) return row
      throw error
    })
  }

  #whenEnded(row: RunRow, { waitMs = defaultWaitMs(row), gone }: RunOptions): Promise<RunRow> {
    return this.#parts.runReads.whenEnded(row, waitMs, gone?.())
  }
}

/** Image and text come while the client waits; for the rest it is told to come again. */
const defaultWaitMs = ({ mode }: RunRow) => (mode === 'sync' ? SYNC_WAIT_MS : 0)

/** What a promise comes to; undefined when it takes too long or fails. */
const within = <Value>(timeoutMs: number, promise: Promise<Value>): Promise<Value | undefined> =>
  new Promise(resolve => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    const settle = (value?: Value) => {
      clearTimeout(timer)
      resolve(value)
    }
    promise.then(settle, () => settle())
  })

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
      return keyRevoked()
    case 'idempotency_mismatch':
      return new ApiError(
        'idempotency_mismatch',
        `This Idempotency-Key was used in the last ${IDEMPOTENCY_HOURS} hours for another request. Use a new one for this request.`,
      )
    default:
      throw new Error(`a run was refused for a reason that no request can cause: ${refusal.code}`)
  }
}
