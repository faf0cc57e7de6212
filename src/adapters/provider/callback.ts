import type { CallbackHeaders } from '../../ports/provider.ts'

/**
 * How far a callback's time may differ from the clock, so that old callbacks cannot be replayed. fal recommends five
 * minutes.
 */
const MAX_SKEW_SECONDS = 5 * 60

/** How long keys are used. fal allows 24 hours. */
const MAX_KEYS_AGE_MS = 24 * 60 * 60 * 1000

/** Forged callbacks cause at most one fetch of keys in this time. */
const MIN_FETCH_INTERVAL_MS = 30_000

/** The keys are a small document, and a vendor gives up on a callback after about 15 seconds. */
const FETCH_TIMEOUT_MS = 10_000

/** The value of a header that occurs once. */
export const headerOf = (headers: CallbackHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Whether a time, in whole seconds since 1970, is close to the clock. */
export const isRecent = (seconds: string, nowMs: number): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(nowMs / 1000 - Number(seconds)) <= MAX_SKEW_SECONDS

/**
 * The most values and names in a body. Parsing more takes long, and a vendor's signature is no protection: fal signs
 * content that any of its customers chooses.
 */
const MAX_MARKS = 10_000

/** The body as an object; undefined if it is not an object, or too long to parse. */
export const bodyOf = (rawBody: Uint8Array): Record<string, unknown> | undefined => {
  let marks = 0
  for (const byte of rawBody) if (MARKS.has(byte) && ++marks > MAX_MARKS) return undefined
  try {
    const body: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody))
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const MARKS = new Set(Buffer.from(',:[{'))

/** A vendor's keys. They are fetched at first use, when they are old, and when they may have changed. */
export class VendorKeys<Keys> {
  readonly #fetchKeys: (signal: AbortSignal) => Promise<Keys>
  #kept: { keys: Keys; atMs: number } | undefined
  #fetching: Promise<Keys> | undefined
  #fetchedAtMs = Number.NEGATIVE_INFINITY

  constructor(fetchKeys: (signal: AbortSignal) => Promise<Keys>) {
    this.#fetchKeys = fetchKeys
  }

  /** Whether the keys verify a signature. Rejects if there are no keys at the moment. */
  async verify(nowMs: number, verifies: (keys: Keys) => boolean): Promise<boolean> {
    const kept = this.#kept && Math.abs(nowMs - this.#kept.atMs) < MAX_KEYS_AGE_MS ? this.#kept : undefined
    if (kept && verifies(kept.keys)) return true
    if (!this.#fetching && Math.abs(nowMs - this.#fetchedAtMs) < MIN_FETCH_INTERVAL_MS) {
      if (kept) return false
      throw new Error("the keys for a vendor's callbacks could not be fetched a moment ago")
    }
    return verifies(await this.#fetch(nowMs))
  }

  #fetch(nowMs: number): Promise<Keys> {
    this.#fetchedAtMs = nowMs
    this.#fetching ??= this.#fetchKeys(AbortSignal.timeout(FETCH_TIMEOUT_MS))
      .then(keys => {
        this.#kept = { keys, atMs: nowMs }
        return keys
      })
      .finally(() => {
        this.#fetching = undefined
      })
    return this.#fetching
  }
}
