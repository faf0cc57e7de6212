import { PRIVATE } from '../../../schemas/personal.ts'
import { MAX_SESSIONS } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { sha256 } from '../../domain/digest.ts'
import type { AuditedEvent, Fault, Report, Rule } from '../fault.ts'

/**
 * Notes which accounts were opened, and which logins were linked to them. A login belongs to one account at a time, and
 * is welcomed once.
 */
export class Logins {
  readonly facts: LoginFact[] = []
  readonly #linked = new Map<string, string>()
  readonly #welcomed = new Set<string>()

  take({ type, stream, data }: AuditedEvent, at: number, report: Report) {
    const accountId = String(data['accountId'])
    if (type === 'AccountOpened') this.facts.push({ at, kind: 'opened', accountId, login: unkeyedOf(openedWith(data)) })
    if (type === 'IdentityLinked') {
      const owner = stream.slice(ACCOUNT_PREFIX.length)
      this.facts.push({ at, kind: 'listed', accountId: owner, login: unkeyedOf(data['identity'] as Identified) })
    }
    if (type === 'WelcomeDecided' && Number(data['welcomeMicros']) > 0) {
      if (this.#welcomed.has(stream)) report('the identity got its welcome credits before')
      this.#welcomed.add(stream)
    }
    if (type === 'LoginUnlinked') {
      if (this.#linked.get(stream) !== accountId) report(`the login is not linked to ${accountId}`)
      this.#linked.delete(stream)
    }
    if (type !== 'LoginLinked') return
    if (this.#linked.has(stream)) report('the login was linked before')
    this.#linked.set(stream, accountId)
    this.facts.push({ at, kind: data['additional'] ? 'added' : 'linked', accountId, login: stream })
  }
}

/** An opened account with its identity, an added identity, or a login that was linked or added to an account. */
export interface LoginFact {
  /** The number of the event. */
  at: number
  kind: 'opened' | 'listed' | 'linked' | 'added'
  accountId: string
  /** The stream. That of an identity is known only if the log has it in the clear, and it has no key. */
  login: string | undefined
}

/**
 * Each account has one login that opened it and one for each identity that it lists, and each login leads to such an
 * account. Where the name of a stream has no key, the login is also that of the identity.
 */
export function* loginFaults(facts: LoginFact[]): Generator<Fault> {
  const accounts = new Map<string, Account>()
  const linked = new Set<string>()
  for (const { kind, accountId, login } of facts) {
    const account: Account = accounts.get(accountId) ?? { accountId, identities: [], links: new Map() }
    accounts.set(accountId, account)
    if (kind === 'opened') account.opening = { login }
    else if (kind === 'listed') account.identities.push(login)
    else if (login !== undefined) {
      account.links.set(login, kind)
      linked.add(login)
    }
  }
  // A stream that no link is in may as well have another name, with a key.
  const nameOf = (login: string | undefined) => (login !== undefined && linked.has(login) ? login : undefined)
  for (const account of accounts.values()) yield* faultsOf(account, nameOf)
}

interface Account {
  accountId: string
  opening?: Pick<LoginFact, 'login'>
  /** The logins of the added identities. */
  identities: LoginFact['login'][]
  /** The logins that were ever linked to the account. */
  links: Map<string, 'linked' | 'added'>
}

function* faultsOf(
  { accountId, opening, identities, links }: Account,
  nameOf: (login: LoginFact['login']) => LoginFact['login'],
): Generator<Fault> {
  const found = (stream: string, what: string, isNote?: true) => ({
    ...{ stream, revision: 0, what, ...(isNote && { isNote }) },
  })
  const stream = ACCOUNT_PREFIX + accountId
  // A process may die between the two events. The next registration then continues.
  if (!opening) {
    for (const login of links.keys()) yield found(login, `${accountId} was not opened`, true)
    return
  }
  const openedBy = [...links.keys()].filter(login => links.get(login) === 'linked')
  const first = nameOf(opening.login) ?? openedBy[0]
  for (const login of openedBy) if (login !== first) yield found(login, `${accountId} was opened with another address`)
  if (openedBy.length === 0) yield { stream, what: 'the login of the account is missing' }
  const named = identities.map(nameOf).filter(login => login !== undefined)
  const others = [...links.keys()].filter(login => login !== first && !named.includes(login))
  const unnamed = identities.length - named.length
  const missing = named.filter(login => !links.has(login)).length + Math.max(0, unnamed - others.length)
  for (let number = 0; number < missing; number++)
    yield { stream, what: 'it lists an identity that is not linked to it' }
  for (const login of others.slice(unnamed))
    if (links.get(login) === 'added') yield found(login, `${accountId} does not list it`, true)
}

const ACCOUNT_PREFIX = 'account-'

type Identified = { kind: 'email'; address: string } | { kind: 'telegram'; subject: string }

const openedWith = ({ email, identity }: AuditedEvent['data']): Identified =>
  (identity as Identified | undefined) ?? { kind: 'email', address: String(email).toLowerCase() }

/** The stream of an identity from the time when their names had no key; undefined if the identity is encrypted. */
const unkeyedOf = (identity: Identified): string | undefined => {
  const name = identity.kind === 'email' ? identity.address : identity.subject
  return name === PRIVATE ? undefined : `login-${sha256(`${identity.kind}:${name}`)}`
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
