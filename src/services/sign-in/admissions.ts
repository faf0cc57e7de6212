import { createHmac } from 'node:crypto'
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import { REGISTRATIONS_STREAM } from '../../../schemas/events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import type { RegistrationEvent, WelcomeWithheld } from '../../../schemas/registration-events.ts'
import { isSameIdentity } from '../../domain/login/identity.ts'
import { isWelcomeTaken, type LoginState } from '../../domain/login/login.ts'
import {
  type AdmitRegistration,
  admittedWelcome,
  type FrozenDay,
  type RegistrationsState,
  registrations,
  registrationsOf,
} from '../../domain/login/registrations.ts'
import { canonicalOf, type Welcome } from '../../domain/login/welcome.ts'
import { type Refusal, refuse } from '../../domain/refusal.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import type { SnapshotForm, Snapshots } from '../../engine/streams/snapshots.ts'
import { type Answer, answer } from '../answer.ts'
import { type Caller, causeOf } from '../caller.ts'
import { deriveKey } from '../derive-key.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'
import type { Logins } from './logins.ts'

/** Reading this many events takes a few milliseconds, so more frequent snapshots are not worth their cost. */
const MIN_TAIL = 1000

export const registrationSnapshots: SnapshotForm<RegistrationsState> = {
  version: 3,
  worthAfter: () => MIN_TAIL,
  freeze: ({ days }) => days.map(day => ({ ...day, logins: [...day.logins], networks: [...day.networks] })),
  thaw: frozen => registrationsOf(frozen as FrozenDay[]),
}

/** Who may open an account, and how many accounts may be opened. */
export interface RegistrationRules {
  mode: 'open' | 'invite' | 'closed'
  /** Domains whose addresses need no invitation; undefined for all. */
  domains: readonly string[] | undefined
  maxPerDay: number
  maxWelcomeMicrosPerDay: number
  /** Accounts per network and day that get welcome credits. */
  maxWelcomesPerNetwork: number
  /** Whether addresses at disposable domains get welcome credits. */
  welcomesDisposable: boolean
}

interface Dependencies extends StreamDependencies {
  snapshots: Snapshots<RegistrationsState>
  rules: RegistrationRules
  welcomeMicros: number
  masterSecret: string
  logins: Logins
}

/** Decides who may open an account, and counts new accounts. */
export class Admissions {
  readonly #dependencies: Dependencies
  readonly #networkKey: Buffer
  readonly #mailbox: Mailbox<AdmitRegistration, RegistrationsState, RegistrationEvent, Refusal>

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#networkKey = deriveKey(dependencies.masterSecret, 'networks')
    this.#mailbox = mailboxOf(REGISTRATIONS_STREAM, registrations, dependencies)
  }

  /** Whether the identity has an account or may open one. */
  maySignIn(identity: Identity, { accountId, isInvited }: LoginState): boolean {
    return accountId !== undefined || this.#mayRegister(identity, isInvited)
  }

  /**
   * Counts a new account toward the limits of the day, or refuses it, and decides on its welcome credits. An identity
   * counts once a day, and its first decision is final, because the process may die before it opens the account.
   */
  async admit(caller: Caller, identity: Identity, state: LoginState, network: string): Promise<Answer<Welcome>> {
    const { welcomeMicros, logins } = this.#dependencies
    const login = await logins.loginOf(identity)
    const canonical = canonicalOf(identity)
    const isAlias = !isSameIdentity(canonical, identity)
    let welcome: Welcome = { welcomeMicros }
    if (state.accountId === undefined) {
      const isTaken = state.hadAccount || (await this.#isTaken(canonical, { login, isAlias }))
      const withheld = isTaken ? 'alias' : this.#disposableOf(identity)
      const admitted = await this.#count(caller, identity, state, { login, network, withheld })
      if ('refuse' in admitted) return admitted
      welcome = admitted.value
    }
    if (welcomeMicros === 0) return answer(welcome)
    // What was decided for the identity was for the account that it had.
    if (state.hadAccount) return answer({ welcomeMicros: 0, withheld: 'alias' })
    const decided = await logins.execute(caller, canonical, { type: 'DecideWelcome', login, isAlias, ...welcome })
    if ('refuse' in decided) return decided
    const { welcomes } = await logins.state(canonical)
    return answer(welcomes.find(each => each.login === login) ?? { welcomeMicros: 0, withheld: 'alias' })
  }

  /** Whether another spelling of the identity got welcome credits, or has an account. */
  async #isTaken(canonical: Identity, { login, isAlias }: { login: string; isAlias: boolean }): Promise<boolean> {
    const state = await this.#dependencies.logins.currentState(canonical)
    if (state.welcomes.some(each => each.login === login && each.welcomeMicros > 0)) return false
    return isWelcomeTaken(state, isAlias)
  }

  async #count(
    caller: Caller,
    identity: Identity,
    { isInvited }: LoginState,
    { login, network, withheld }: { login: string; network: string; withheld: WelcomeWithheld | undefined },
  ): Promise<Answer<Welcome>> {
    const { rules, welcomeMicros } = this.#dependencies
    const { mode, domains, maxPerDay, maxWelcomeMicrosPerDay, maxWelcomesPerNetwork } = rules
    if (!this.#mayRegister(identity, isInvited)) return refuse('registration_closed', { mode })
    // Strangers cannot use up the allowance for people whom the operator has named.
    const isNamed = isInvited || domains !== undefined
    const command = {
      ...{ login, welcomeMicros, withheld, ...(isNamed ? {} : this.#hashesOf(network)) },
      ...{ maxPerDay, maxWelcomeMicrosPerDay, maxWelcomesPerNetwork },
    }
    const outcome = await this.#mailbox.execute(command, causeOf(caller))
    if ('refuse' in outcome) return outcome
    return answer(admittedWelcome(await this.#mailbox.state(), login) ?? { welcomeMicros: 0, withheld: 'day' })
  }

  #disposableOf(identity: Identity): WelcomeWithheld | undefined {
    return !this.#dependencies.rules.welcomesDisposable && isDisposable(domainOf(identity)) ? 'disposable' : undefined
  }

  /** The hash has a key that is derived from the master secret, so the log does not reveal networks. */
  #hashesOf(network: string) {
    const hash = (name: string) => createHmac('sha256', this.#networkKey).update(name).digest('hex')
    const [narrow, wide] = wideNetworksOf(network)
    return { network: hash(narrow), provider: hash(wide) }
  }

  #mayRegister(identity: Identity, isInvited: boolean): boolean {
    const { mode, domains } = this.#dependencies.rules
    if (mode === 'closed') return false
    if (isInvited) return true
    return mode === 'open' && (domains === undefined || domains.includes(domainOf(identity)))
  }
}

/** Only e-mail identities have a domain. */
const domainOf = (identity: Identity): string =>
  identity.kind === 'email' ? identity.address.slice(identity.address.indexOf('@') + 1) : ''

/** About 9,000 domains. Loaded at first use, since few processes need them. */
let domains: Set<string> | undefined

/** Whether a domain, or one of its parent domains, gives out short-lived addresses to everyone. */
const isDisposable = (domain: string): boolean => {
  domains ??= disposableEmailBlocklistSet()
  const labels = domain.split('.')
  return labels.some((_, index) => domains?.has(labels.slice(index).join('.')))
}

/**
 * The wider networks of a client, narrowest first: the /24 and the /16 of an IPv4 address, the /48 and the /32 of an
 * IPv6 network of four groups. One person can easily have the first, and an internet provider has the second. For any
 * other name, both are the name itself. The two names always differ for an address.
 */
export const wideNetworksOf = (network: string): [string, string] => {
  const narrow = wider(network)
  return [narrow, `${wider(narrow)}/`]
}

/** The first of these as a CIDR range; undefined for names that are no address. */
export const rangeOf = (network: string): string | undefined => {
  const [narrow] = wideNetworksOf(network)
  if (/^\d+\.\d+\.\d+$/.test(narrow)) return `${narrow}.0/24`
  return narrow.includes(':') ? `${narrow}::/48` : undefined
}

const wider = (network: string): string => network.replace(/[.:][^.:]+$/, '')
