import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../ports/clock.ts'
import { type AccountCaller, keyIdOf } from '../../../services/caller.ts'
import type { Runs } from '../../../services/runs/runs.ts'
import { unwrap } from '../../../transports/refusals.ts'
import type { Context } from '../../context.ts'

/** How long a request is remembered after the service has worked on it. The last attempt of a client comes sooner. */
const KEPT_MS = 120_000

/** A few MB. Beyond it, the oldest are forgotten. */
const MAX_REQUESTS = 10_000

/** A request whose answer a repetition may need. */
export interface UntakenRequest {
  /** Makes the request and its repetitions one run. Begins with the digest of the request. */
  idempotencyKey: string
  /** Whether the last connection was cut. */
  isCut: boolean
  /** Since when the service no longer works on it. */
  idleSinceMs?: number | undefined
  /** Whether a repetition is a new run, since the client has an answer or did not want it. */
  isOver: boolean
}

/**
 * OpenAI's clients send no idempotency key, and repeat a request if the connection was cut or the answer was an error.
 * Their header says so. Such a repetition gets the run of the first request until the client has taken an answer.
 */
export class UntakenRequests {
  readonly #clock: Clock
  readonly #runs: Pick<Runs, 'digestOf' | 'findRequest'>
  readonly #kept = new LRUCache<string, UntakenRequest>({ max: MAX_REQUESTS })

  constructor(clock: Clock, runs: Pick<Runs, 'digestOf' | 'findRequest'>) {
    this.#clock = clock
    this.#runs = runs
  }

  /** The earlier request that this one repeats, or a new one. Rejects with Unavailable. */
  async begin(ctx: Context): Promise<UntakenRequest> {
    const { caller } = ctx.state
    const request = [caller.accountId, keyIdOf(caller), ctx.path, ctx.request.body]
    const digest = unwrap(await this.#runs.digestOf(caller, request))
    const isRepetition = Number(ctx.get('X-Stainless-Retry-Count')) > 0
    const idempotencyKey = (isRepetition && (await this.#find(caller, digest))) || `${digest}/${randomUUID()}`
    const begun: UntakenRequest = this.#kept.get(idempotencyKey) ?? { idempotencyKey, isCut: false, isOver: false }
    Object.assign(begun, { isCut: false, idleSinceMs: undefined })
    ctx.res.once('close', () => {
      begun.isCut = true
    })
    this.#kept.set(begun.idempotencyKey, begun)
    return begun
  }

  /** The service has worked on the request. */
  rest(request: UntakenRequest) {
    request.idleSinceMs = this.#clock.monotonicMs()
  }

  /** The answer is final, so no repetition needs it once it is written. */
  answer(ctx: Context, request: UntakenRequest) {
    ctx.res.once('finish', () => this.end(request))
  }

  /** A repetition is a new run. */
  end(request: UntakenRequest) {
    request.isOver = true
  }

  /**
   * The idempotency key of an equal request; undefined if there is none. Of several, one without a connection was
   * probably the one that is repeated. Another process may have accepted the request, or this one before it was started
   * again.
   */
  async #find(caller: AccountCaller, digest: string): Promise<string | undefined> {
    const sinceMs = this.#clock.monotonicMs() - KEPT_MS
    const equal = [...this.#kept.rvalues()].flatMap(each => (each?.idempotencyKey.startsWith(digest) ? [each] : []))
    const untaken = equal.filter(
      ({ isOver, idleSinceMs }) => !isOver && (idleSinceMs === undefined || idleSinceMs >= sinceMs),
    )
    const found = untaken.find(({ isCut }) => isCut) ?? untaken[0]
    if (found) return found.idempotencyKey
    const known = new Set(equal.map(({ idempotencyKey }) => idempotencyKey))
    return unwrap(await this.#runs.findRequest(caller, `${digest}/`, KEPT_MS, known))
  }
}
