import { sha256 } from '../../domain/digest.ts'
import type { Fault, Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** An account's stream begins with its opening, and is named after it. */
export class Opening implements Rule {
  readonly #accountId: string
  #isOpen = false

  constructor(stream: string) {
    this.#accountId = stream.slice(stream.indexOf('-') + 1)
  }

  take({ type, data }: AuditedEvent, report: Report) {
    if (type === 'AccountOpened') {
      if (this.#isOpen) report('the account was opened before')
      if (data['accountId'] !== this.#accountId)
        report(`it opens ${data['accountId']} in the stream of another account`)
    } else if (!this.#isOpen) report('the account was not opened')
    this.#isOpen = true
  }
}

/** Each login leads to an account that was opened with its address, and each account has its login. */
export class Logins {
  /** The stream of the login that an account's address calls for. */
  readonly #loginOf = new Map<string, string>()
  readonly #accountOf = new Map<string, string>()

  take({ type, stream, data }: AuditedEvent, report: Report) {
    const accountId = String(data['accountId'])
    if (type === 'AccountOpened')
      this.#loginOf.set(accountId, `login-${sha256(`email:${String(data['email']).toLowerCase()}`)}`)
    if (type !== 'LoginLinked') return
    if (this.#accountOf.has(stream)) report('the login was linked before')
    this.#accountOf.set(stream, accountId)
  }

  /** The faults that show once all streams were read. */
  *faults(): Generator<Fault> {
    for (const [stream, accountId] of this.#accountOf) {
      const login = this.#loginOf.get(accountId)
      // A process may die between the two, and the next registration goes on from there.
      if (login === undefined) yield { stream, revision: 0, what: `${accountId} was not opened`, isNote: true }
      else if (login !== stream) yield { stream, revision: 0, what: `${accountId} was opened with another address` }
    }
    for (const [accountId, login] of this.#loginOf)
      if (!this.#accountOf.has(login))
        yield { stream: `account-${accountId}`, what: 'the login of the account is missing' }
  }
}
