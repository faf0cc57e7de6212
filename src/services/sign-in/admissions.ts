import { createHmac } from 'node:crypto'
import { REGISTRATIONS_STREAM } from '../../../schemas/events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import type { RegistrationEvent } from '../../../schemas/registration-events.ts'
import { loginOf } from '../../domain/login/identity.ts'
import type { LoginState } from '../../domain/login/login.ts'
import {
  type AdmitRegistration,
  type FrozenDay,
  type RegistrationsState,
  registrations,
  registrationsOf,
} from '../../domain/login/registrations.ts'
import { type Refusal, refuse } from '../../domain/refusal.ts'
import { Mailbox } from '../../engine/streams/mailbox.ts'
import type { SnapshotForm, Snapshots } from '../../engine/streams/snapshots.ts'
import { Streams } from '../../engine/streams/stream.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer } from '../answer.ts'
import { type Caller, causeOf } from '../caller.ts'
import { deriveKey } from '../derive-key.ts'
import { eventCodec } from '../event-codec.ts'
import { wideNetworkOf } from './wide-network.ts'

/** A tail of this many events is read in a few milliseconds, so an earlier snapshot would not be worth its cost. */
const MIN_TAIL = 1000

export const registrationSnapshots: SnapshotForm<RegistrationsState> = {
  version: 3,
  worthAfter: () => MIN_TAIL,
  freeze: ({ days }) => days.map(day => ({ ...day, logins: [...day.logins], networks: [...day.networks] })),
  thaw: frozen => registrationsOf(frozen as FrozenDay[]),
}

/** Who may open an account without an operator, and how many may. */
export interface RegistrationRules {
  mode: 'open' | 'invite' | 'closed'
  /** The domains of addresses that need no invitation; undefined for all. */
  domains: readonly string[] | undefined
  maxPerDay: number
  maxWelcomeMicrosPerDay: number
}

interface Parts {
  log: EventLog
  snapshots: Snapshots<RegistrationsState>
  clock: Clock
  random: Random
  logger: Logger
  rules: RegistrationRules
  welcomeMicros: number
  masterSecret: string
}

/** Decides who may open an account, and counts them. */
export class Admissions {
  readonly #parts: Parts
  readonly #networkKey: Buffer
  readonly #mailbox: Mailbox<AdmitRegistration, RegistrationsState, RegistrationEvent, Refusal>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#networkKey = deriveKey(parts.masterSecret, 'networks')
    this.#mailbox = new Mailbox(
      REGISTRATIONS_STREAM,
      new Streams({ decider: registrations, codec: eventCodec, ...parts }),
    )
  }

  /** Whether the identity may sign in: it has an account, or may open one. */
  maySignIn(identity: Identity, { accountId, isInvited }: LoginState): boolean {
    return accountId !== undefined || this.#mayRegister(identity, isInvited)
  }

  /** Counts a new account toward the limits of the day, or refuses it. An identity counts once a day. */
  async admit(
    caller: Caller,
    identity: Identity,
    { isInvited }: LoginState,
    network: string,
  ): Promise<Answer<undefined>> {
    const { rules, welcomeMicros, clock } = this.#parts
    const { mode, domains, maxPerDay, maxWelcomeMicrosPerDay } = rules
    if (!this.#mayRegister(identity, isInvited)) return refuse('registration_closed', { mode })
    // Strangers cannot use up what is for people whom the operator has named.
    const isNamed = isInvited || domains !== undefined
    const command = {
      ...{ login: loginOf(identity), network: isNamed ? undefined : this.#hashOf(network), welcomeMicros },
      ...{ atMs: clock.nowMs(), maxPerDay, maxWelcomeMicrosPerDay },
    }
    const outcome = await this.#mailbox.execute(command, causeOf(caller))
    return 'refuse' in outcome ? outcome : answer(undefined)
  }

  /** Nobody can tell the network from its hash in the log without the master secret. */
  #hashOf(network: string): string {
    return createHmac('sha256', this.#networkKey).update(wideNetworkOf(network)).digest('hex')
  }

  #mayRegister(identity: Identity, isInvited: boolean): boolean {
    const { mode, domains } = this.#parts.rules
    if (mode === 'closed') return false
    if (isInvited) return true
    return mode === 'open' && (domains === undefined || domains.includes(domainOf(identity)))
  }
}

/** An identity of another kind belongs to no domain. */
const domainOf = (identity: Identity): string =>
  identity.kind === 'email' ? identity.address.slice(identity.address.indexOf('@') + 1) : ''
