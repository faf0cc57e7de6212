import type { Logger } from '../ports/logger.ts'

/** Logs an outage in one line at its beginning and one at its end, however often its work is retried. */
export class Outage {
  readonly #log: (error: unknown, facts: object) => void
  readonly #logEnd: (facts: object) => void
  #kind: string | undefined

  constructor(logger: Pick<Logger, 'error' | 'info'>, beginning: string, end: string) {
    this.#log = (error, facts) => logger.error({ err: error, ...facts }, beginning)
    this.#logEnd = facts => logger.info(facts, end)
  }

  /** Notes a failure. A failure of another kind is another outage: a store may be away, and then damaged. */
  failed(error: unknown, facts: object = {}) {
    const kind = error instanceof Error ? error.name : 'unknown'
    if (kind !== this.#kind) this.#log(error, facts)
    this.#kind = kind
  }

  /** Notes a success. */
  passed(facts: object = {}) {
    if (this.#kind !== undefined) this.#logEnd(facts)
    this.#kind = undefined
  }
}
