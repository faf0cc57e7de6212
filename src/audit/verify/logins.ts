import { sha256 } from '../../domain/digest.ts'
import type { Fault, Report } from '../fault.ts'
import type { AuditedEvent } from './rule.ts'

/** An account that was opened, with the stream of the login that its address calls for, or a login that was linked. */
export interface LoginFact {
  /** The number of the event. */
  at: number
  kind: 'opened' | 'linked'
  accountId: string
  login: string
}

/** Notes which accounts were opened and which logins were linked. Each login is linked once. */
export class Logins {
  readonly facts: LoginFact[] = []
  readonly #linked = new Set<string>()

  take({ type, stream, data }: AuditedEvent, at: number, report: Report) {
    if (type !== 'AccountOpened' && type !== 'LoginLinked') return
    const accountId = String(data['accountId'])
    if (type === 'AccountOpened') {
      const login = `login-${sha256(`email:${String(data['email']).toLowerCase()}`)}`
      this.facts.push({ at, kind: 'opened', accountId, login })
      return
    }
    if (this.#linked.has(stream)) report('the login was linked before')
    this.#linked.add(stream)
    this.facts.push({ at, kind: 'linked', accountId, login: stream })
  }
}

/** Each login leads to an account that was opened with its address, and each account has its login. */
export function* loginFaults(facts: LoginFact[]): Generator<Fault> {
  const loginOf = new Map<string, string>()
  const accountOf = new Map<string, string>()
  for (const { kind, accountId, login } of facts)
    if (kind === 'opened') loginOf.set(accountId, login)
    else accountOf.set(login, accountId)
  for (const [stream, accountId] of accountOf) {
    const login = loginOf.get(accountId)
    // A process may die between the two, and the next registration goes on from there.
    if (login === undefined) yield { stream, revision: 0, what: `${accountId} was not opened`, isNote: true }
    else if (login !== stream) yield { stream, revision: 0, what: `${accountId} was opened with another address` }
  }
  for (const [accountId, login] of loginOf)
    if (!accountOf.has(login)) yield { stream: `account-${accountId}`, what: 'the login of the account is missing' }
}
