import { Map as ImmutableMap, Set as ImmutableSet } from 'immutable'
import { clockOf } from '../../../schemas/recorded.ts'
import type { RegistrationEvent } from '../../../schemas/registration-events.ts'
import { DAY_MS } from '../days.ts'
import { accept, type Decider, repeat } from '../decider.ts'
import { type Refusal, refuse } from '../refusal.ts'

/** `atMs` is in ms since 1970. The limits are for a calendar day in UTC. */
export interface AdmitRegistration {
  login: string
  /**
   * The hash of the client's network, whose share of the day is limited; undefined for identities without that limit.
   */
  network?: string | undefined
  welcomeMicros: number
  atMs: number
  maxPerDay: number
  maxWelcomeMicrosPerDay: number
}

/** The registrations of a day. */
interface RegistrationDay {
  /** Days since 1970. */
  day: number
  logins: ImmutableSet<string>
  /** How many of them each network has. */
  networks: ImmutableMap<string, number>
  welcomeMicros: number
}

/** The days that had registrations, the last used first. */
export interface RegistrationsState {
  days: readonly RegistrationDay[]
}

/**
 * One day would be enough for a clock that only goes forward. With more, neither two clocks that differ at midnight nor
 * one that jumps and is set back start a day again.
 */
const MAX_DAYS = 4

/** The part of what is left of a day that a network may take. So it takes many of them to use up a day. */
const PARTS = 10

/** Bounds how many accounts people open in a day, and the credits that these get together. */
export const registrations: Decider<AdmitRegistration, RegistrationsState, RegistrationEvent, Refusal> = {
  initial: { days: [] },
  // The day that is decided on must be the one that the event counts in, also at midnight.
  timed: (command, atMs) => ({ ...command, atMs }),
  decide: ({ login, network, welcomeMicros, atMs, maxPerDay, maxWelcomeMicrosPerDay }, state) => {
    const today = dayAt(state, atMs)
    // A process may have died before it opened the account.
    if (today.logins.has(login)) return repeat(login)
    if (today.logins.size >= maxPerDay || today.welcomeMicros + welcomeMicros > maxWelcomeMicrosPerDay)
      return refuse('registrations_full', { retryAfterMs: (today.day + 1) * DAY_MS - atMs })
    if (network && countOf(today, network) * PARTS >= maxPerDay - today.logins.size)
      return refuse('registrations_full', { retryAfterMs: (today.day + 1) * DAY_MS - atMs, network: true })
    return accept([{ type: 'RegistrationAdmitted', data: { login, welcomeMicros, ...(network && { network }) } }])
  },
  evolve: (state, event) => {
    const { login, network, welcomeMicros } = event.data
    const before = dayAt(state, Date.parse(clockOf(event)))
    const { day } = before
    const after = {
      ...{ day, logins: before.logins.add(login), welcomeMicros: before.welcomeMicros + welcomeMicros },
      networks: network ? before.networks.set(network, countOf(before, network) + 1) : before.networks,
    }
    return { days: [after, ...state.days.filter(each => each.day !== day)].slice(0, MAX_DAYS) }
  },
}

const dayAt = ({ days }: RegistrationsState, atMs: number): RegistrationDay => {
  const day = Math.floor(atMs / DAY_MS)
  return (
    days.find(each => each.day === day) ?? { day, logins: ImmutableSet(), networks: ImmutableMap(), welcomeMicros: 0 }
  )
}

const countOf = ({ networks }: RegistrationDay, network: string): number => networks.get(network) ?? 0

/** The state with these days, for snapshots. */
export const registrationsOf = (days: FrozenDay[]): RegistrationsState => ({
  days: days.map(day => ({ ...day, logins: ImmutableSet(day.logins), networks: ImmutableMap(day.networks) })),
})

export type FrozenDay = Pick<RegistrationDay, 'day' | 'welcomeMicros'> & {
  logins: string[]
  networks: [string, number][]
}
