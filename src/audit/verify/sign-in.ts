import { PRIVATE } from '../../../schemas/personal.ts'
import { MAX_SESSIONS } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { sha256 } from '../../domain/digest.ts'
import type { AuditedEvent, Fault, Report, Rule } from '../fault.ts'

/** Notes which accounts were opened, and which logins were linked to them. A login is linked and welcomed once. */
export class Logins {
  readonly facts: LoginFact[] = []
  readonly #linked = new Set<string>()
  readonly #welcomed = new Set<string>()

  take({ type, stream, data }: AuditedEvent, at: number, report: Report) {
    const accountId = String(data['accountId'])
    if (type === 'AccountOpened') this.facts.push({ at, kind: 'opened', accountId, login: loginOf(openedWith(data)) })
    if (type === 'IdentityLinked') {
      const owner = stream.slice(ACCOUNT_PREFIX.length)
      this.facts.push({ at, kind: 'listed', accountId: owner, login: loginOf(data['identity'] as Identified) })
    }
    if (type === 'WelcomeDecided' && Number(data['welcomeMicros']) > 0) {
      if (this.#welcomed.has(stream)) report('the identity got its welcome credits before')
      this.#welcomed.add(stream)
    }
    if (type !== 'LoginLinked') return
    if (this.#linked.has(stream)) report('the login was linked before')
    this.#linked.add(stream)
    this.facts.push({ at, kind: data['additional'] ? 'added' : 'linked', accountId, login: stream })
  }
}

/** An opened account with its identity, an added identity, or a login that was linked or added to an account. */
export interface LoginFact {
  /** The number of the event. */
  at: number
  kind: 'opened' | 'listed' | 'linked' | 'added'
  accountId: string
  /** HIDDEN if the identity is encrypted. */
  login: string
}

const HIDDEN = 'hidden'

/**
 * Each login leads to an account that has its identity, and each account has its logins. Of an identity that is
 * encrypted, the log shows only that it is there.
 */
export function* loginFaults(facts: LoginFact[]): Generator<Fault> {
  const loginOf = new Map<string, string>()
  const linkOf = new Map<string, LoginFact>()
  const listed = new Set<string>()
  const linked = new Set<string>()
  for (const fact of facts)
    if (fact.kind === 'opened') loginOf.set(fact.accountId, fact.login)
    else if (fact.kind === 'listed') listed.add(`${fact.accountId}/${fact.login}`)
    else linkOf.set(fact.login, fact)
  for (const { accountId, kind } of linkOf.values()) linked.add(`${accountId}/${kind}`)
  for (const [stream, { accountId, kind }] of linkOf) {
    const login = loginOf.get(accountId)
    const found = (what: string, isNote?: true) => ({ stream, revision: 0, what, ...(isNote && { isNote }) })
    // A process may die between the two events. The next registration then continues.
    if (login === undefined) yield found(`${accountId} was not opened`, true)
    else if (kind === 'linked' && login !== HIDDEN && login !== stream)
      yield found(`${accountId} was opened with another address`)
    else if (kind === 'added' && ![stream, HIDDEN].some(login => listed.has(`${accountId}/${login}`)))
      yield found(`${accountId} does not list it`, true)
  }
  for (const [accountId, login] of loginOf)
    if (login === HIDDEN ? !linked.has(`${accountId}/linked`) : !linkOf.has(login))
      yield { stream: `account-${accountId}`, what: 'the login of the account is missing' }
  for (const place of listed) {
    const [accountId = '', login = ''] = place.split('/')
    if (login === HIDDEN ? !linked.has(`${accountId}/added`) : linkOf.get(login)?.accountId !== accountId)
      yield { stream: `account-${accountId}`, what: `it lists ${login}, which is not linked to it` }
  }
}

const ACCOUNT_PREFIX = 'account-'

type Identified = { kind: 'email'; address: string } | { kind: 'telegram'; subject: string }

const openedWith = ({ email, identity }: AuditedEvent['data']): Identified =>
  (identity as Identified | undefined) ?? { kind: 'email', address: String(email).toLowerCase() }

const loginOf = (identity: Identified): string => {
  const name = identity.kind === 'email' ? identity.address : identity.subject
  return name === PRIVATE ? HIDDEN : `login-${sha256(`${identity.kind}:${name}`)}`
}

/**
 * Only open sessions of the account change the account. A session is opened and closed once, and an account has few.
 */
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
    if (type === 'SessionConfirmed' && actor !== sessionId) report(`${sessionId} is confirmed by another caller`)
    if (type === 'SessionClosed' && !this.#ends.delete(sessionId)) report(`${sessionId} is not an open session`)
  }

  #use(sessionId: string, at: string, report: Report) {
    const end = this.#ends.get(sessionId)
    if (end === undefined) report(`${sessionId} is not an open session of this account`)
    else if (Date.parse(at) >= Date.parse(end) + ON_ITS_WAY_MS) report(`${sessionId} had expired at ${end}`)
  }
}

/** A session may expire while a command of it is on its way to the log. */
const ON_ITS_WAY_MS = 60_000
