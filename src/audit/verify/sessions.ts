import { MAX_SESSIONS } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** A command may be on its way to the log when the session of its caller expires. */
const ON_ITS_WAY_MS = 60_000

/** Only open sessions of the account change it; a session is opened once and closed once, and they are few. */
export class Sessions implements Rule {
  /** When each open session ends. */
  readonly #ends = new Map<unknown, string>()
  readonly #opened = new Set<unknown>()

  take({ type, data, metadata }: AuditedEvent, report: Report) {
    const { sessionId: actor } = metadata.actor as { sessionId?: string }
    if (actor !== undefined) this.#use(actor, clockOf({ metadata }), report)
    const { sessionId, expiresAt } = data
    if (type === 'SessionOpened') {
      if (this.#opened.has(sessionId)) report(`${sessionId} was opened before`)
      this.#opened.add(sessionId)
      this.#ends.set(sessionId, String(expiresAt))
      if (this.#ends.size > MAX_SESSIONS) report(`it is one of ${this.#ends.size} open sessions`)
    }
    if (type === 'SessionClosed' && !this.#ends.delete(sessionId)) report(`${sessionId} is no open session`)
  }

  #use(sessionId: string, at: string, report: Report) {
    const end = this.#ends.get(sessionId)
    if (end === undefined) report(`${sessionId} is no open session of this account`)
    else if (Date.parse(at) >= Date.parse(end) + ON_ITS_WAY_MS) report(`${sessionId} had expired at ${end}`)
  }
}
