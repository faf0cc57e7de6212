import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { sha256 } from '../../../domain/digest.ts'
import { canonicalJson } from '../../../engine/log/hash-chain.ts'
import type { Clock } from '../../../ports/clock.ts'
import { keyIdOf } from '../../../services/caller.ts'
import type { Context } from '../../context.ts'

/** How long a request is remembered after the service has worked on it. The last attempt of a client comes sooner. */
const KEPT_MS = 120_000

/** A few MB. Beyond it, the oldest are forgotten. */
const MAX_UNTAKEN = 10_000

/** A request whose answer no client has taken yet. */
export interface UntakenRequest {
  /** Makes the request and its repetitions one run. */
  idempotencyKey: string
  digest: string
  /** Whether the last connection was cut. */
  isCut: boolean
  /** Since when the service no longer works on it. */
  idleSinceMs?: number | undefined
}

/**
 * OpenAI's clients send no idempotency key, and repeat a request if the connection was cut or the answer was an error.
 * Their header says so. Such a repetition gets the run of the first request until the client has taken an answer.
 */
export class UntakenRequests {
  readonly #clock: Clock
  readonly #kept = new LRUCache<string, UntakenRequest>({ max: MAX_UNTAKEN })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The earlier request that this one repeats, or a new one. */
  begin(ctx: Context): UntakenRequest {
    const { caller } = ctx.state
    const digest = sha256(canonicalJson([caller.accountId, keyIdOf(caller) ?? null, ctx.path, ctx.request.body]))
    const isRepetition = Number(ctx.get('X-Stainless-Retry-Count')) > 0
    const begun = (isRepetition && this.#find(digest)) || { idempotencyKey: randomUUID(), digest, isCut: false }
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

  /** The answer is final, so the request is forgotten when it is written. */
  answer(ctx: Context, { idempotencyKey }: UntakenRequest) {
    ctx.res.once('finish', () => this.#kept.delete(idempotencyKey))
  }

  /** A repetition is a new run. */
  forget({ idempotencyKey }: UntakenRequest) {
    this.#kept.delete(idempotencyKey)
  }

  /** Of equal requests, one without a connection was probably the one that is repeated. */
  #find(digest: string): UntakenRequest | undefined {
    const sinceMs = this.#clock.monotonicMs() - KEPT_MS
    const isEqual = (each: UntakenRequest) =>
      each.digest === digest && (each.idleSinceMs === undefined || each.idleSinceMs >= sinceMs)
    const equal = [...this.#kept.rvalues()].flatMap(each => (each && isEqual(each) ? [each] : []))
    return equal.find(({ isCut }) => isCut) ?? equal[0]
  }
}
