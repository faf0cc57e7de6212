import { invalid, StripeFault } from './errors.ts'

export interface Answer {
  status: number
  body: unknown
}

interface Saved {
  path: string
  parameters: string
  answer: Answer
}

/**
 * The answers of keys: https://docs.stripe.com/api/idempotent_requests. The same key with the same parameters gets the
 * same answer, even a refusal by a bank or a fault. Requests that were never begun, since they are invalid, are not kept.
 */
export class IdempotencyKeys {
  readonly #saved = new Map<string, Saved>()

  /** A kept answer; undefined for a new key. Throws for a key of another request. */
  find(key: string, path: string, parameters: string): Answer | undefined {
    const saved = this.#saved.get(key)
    if (!saved) return undefined
    if (saved.path !== path)
      throw conflict(`for the same endpoint they were first used for ('${path}' vs '${saved.path}')`, key)
    if (saved.parameters !== parameters) throw conflict('with the same parameters they were first used with', key)
    return saved.answer
  }

  keep(key: string, path: string, parameters: string, answer: Answer) {
    if (![400, 401, 403, 404, 429].includes(answer.status)) this.#saved.set(key, { path, parameters, answer })
  }

  /** As after a day, when keys may be forgotten. */
  forget() {
    this.#saved.clear()
  }
}

const conflict = (rule: string, key: string) => {
  const words = `Keys for idempotent requests can only be used ${rule}.`
  const fault = invalid(`${words} Try using a key other than '${key}' if you meant to execute a different request.`)
  return new StripeFault(400, { ...fault.error, type: 'idempotency_error', message: fault.message })
}
