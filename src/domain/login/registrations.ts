import { Map as ImmutableMap } from 'immutable'
import { clockOf } from '../../../schemas/recorded.ts'
import type { RegistrationEvent, WelcomeWithheld } from '../../../schemas/registration-events.ts'
import { DAY_MS } from '../days.ts'
import { accept, type Decider, repeat } from '../decider.ts'
import { type Refusal, refuse } from '../refusal.ts'
import type { Welcome } from './welcome.ts'

/** The limits are for a calendar day in UTC. */
export interface AdmitRegistration {
  login: string
  /** Hashes of the client's network and of the wider one around it; undefined for identities without such limits. */
  network?: string | undefined
  provider?: string | undefined
  welcomeMicros: number
  /** Why the account gets no welcome credits even within the limits. */
  withheld?: WelcomeWithheld | undefined
  maxPerDay: number
  maxWelcomeMicrosPerDay: number
  maxWelcomesPerNetwork: number
}

/** The registrations of a day. */
interface RegistrationDay {
  /** Days since 1970. */
  day: number
  logins: ImmutableMap<string, Welcome>
  /** How many of them each network has, and how many of these got welcome credits. */
  networks: ImmutableMap<string, NetworkDay>
  welcomeMicros: number
}

interface NetworkDay {
  accounts: number
  welcomes: number
}

/** The days that had registrations, the last used first. */
export interface RegistrationsState {
  days: readonly RegistrationDay[]
}

/**
 * One day is enough for a clock that only goes forward. With more days, a day does not start again if two clocks differ
 * at midnight, or if a clock jumps ahead and is set back.
 */
const MAX_DAYS = 4

/**
 * A network may take a tenth of the remaining registrations of a day, and its provider a fifth. It therefore takes many
 * networks to use up a day.
 */
const [PARTS, PROVIDER_PARTS] = [10, 5]

/** Bounds how many accounts people open in a day, and the credits that these get together. */
export const registrations: Decider<AdmitRegistration, RegistrationsState, RegistrationEvent, Refusal> = {
  initial: { days: [] },
  decide: (command, state, atMs) => {
    const { login, network, provider, maxPerDay } = command
    const today = dayAt(state, atMs)
    // A process may have died before it opened the account.
    if (today.logins.has(login)) return repeat(login)
    const retryAfterMs = (today.day + 1) * DAY_MS - atMs
    const left = maxPerDay - today.logins.size
    if (left <= 0) return refuse('registrations_full', { retryAfterMs })
    if (
      networkIn(today, network).accounts * PARTS >= left ||
      networkIn(today, provider).accounts * PROVIDER_PARTS >= left
    )
      return refuse('registrations_full', { retryAfterMs, network: true })
    const withheld = withheldFrom(command, today)
    const welcomeMicros = withheld ? 0 : command.welcomeMicros
    const data = {
      ...{ login, welcomeMicros },
      ...(network && { network }),
      ...(provider && { provider }),
      ...(withheld && { withheld }),
    }
    return accept([{ type: 'RegistrationAdmitted', data }])
  },
  evolve: (state, event) => {
    const { login, network, provider, ...welcome } = event.data
    const before = dayAt(state, Date.parse(clockOf(event)))
    const { day, logins, networks, welcomeMicros } = before
    const countIn = (counted: RegistrationDay['networks'], name: string) =>
      counted.set(name, withAnother(networkIn(before, name), welcome))
    const after = {
      ...{ day, logins: logins.set(login, welcome), welcomeMicros: welcomeMicros + welcome.welcomeMicros },
      networks: [network, provider].filter(name => name !== undefined).reduce(countIn, networks),
    }
    return { days: [after, ...state.days.filter(each => each.day !== day)].slice(0, MAX_DAYS) }
  },
}

/** Why an account that opens today gets no welcome credits. */
const withheldFrom = (
  { network, provider, welcomeMicros, withheld, maxWelcomeMicrosPerDay, maxWelcomesPerNetwork }: AdmitRegistration,
  today: RegistrationDay,
): WelcomeWithheld | undefined => {
  if (welcomeMicros === 0) return undefined
  if (withheld) return withheld
  const leftMicros = maxWelcomeMicrosPerDay - today.welcomeMicros
  if (welcomeMicros > leftMicros) return 'day'
  if (network && networkIn(today, network).welcomes >= maxWelcomesPerNetwork) return 'network'
  const { welcomes } = networkIn(today, provider)
  const hasShare = welcomes < maxWelcomesPerNetwork || welcomes * welcomeMicros * PROVIDER_PARTS < leftMicros
  return provider && !hasShare ? 'network' : undefined
}

const withAnother = ({ accounts, welcomes }: NetworkDay, { welcomeMicros }: Welcome): NetworkDay => ({
  accounts: accounts + 1,
  welcomes: welcomes + (welcomeMicros > 0 ? 1 : 0),
})

/** What was decided for an identity in the days that are known. */
export const admittedWelcome = ({ days }: RegistrationsState, login: string): Welcome | undefined =>
  days.map(({ logins }) => logins.get(login)).find(each => each !== undefined)

const dayAt = ({ days }: RegistrationsState, atMs: number): RegistrationDay => {
  const day = Math.floor(atMs / DAY_MS)
  return (
    days.find(each => each.day === day) ?? { day, logins: ImmutableMap(), networks: ImmutableMap(), welcomeMicros: 0 }
  )
}

const networkIn = ({ networks }: RegistrationDay, network = ''): NetworkDay =>
  networks.get(network) ?? { accounts: 0, welcomes: 0 }

/** The state with these days, for snapshots. */
export const registrationsOf = (days: FrozenDay[]): RegistrationsState => ({
  days: days.map(day => ({ ...day, logins: ImmutableMap(day.logins), networks: ImmutableMap(day.networks) })),
})

export type FrozenDay = Pick<RegistrationDay, 'day' | 'welcomeMicros'> & {
  logins: [string, Welcome][]
  networks: [string, NetworkDay][]
}
