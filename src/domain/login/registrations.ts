import { Set as ImmutableSet } from 'immutable'
import { clockOf } from '../../../schemas/recorded.ts'
import type { RegistrationEvent } from '../../../schemas/registration-events.ts'
import { accept, type Decider, repeat } from '../decider.ts'
import { type Refusal, refuse } from '../refusal.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** `atMs` is in ms since 1970. The limits are for a calendar day in UTC. */
export interface AdmitRegistration {
  login: string
  welcomeMicros: number
  atMs: number
  maxPerDay: number
  maxWelcomeMicrosPerDay: number
}

/** The registrations of the last day that had some. */
export interface RegistrationsState {
  /** Days since 1970. */
  day: number
  logins: ImmutableSet<string>
  welcomeMicros: number
}

const none = (day: number): RegistrationsState => ({ day, logins: ImmutableSet(), welcomeMicros: 0 })

/** Bounds how many accounts people open in a day, and the credits that these get together. */
export const registrations: Decider<AdmitRegistration, RegistrationsState, RegistrationEvent, Refusal> = {
  initial: none(0),
  decide: ({ login, welcomeMicros, atMs, maxPerDay, maxWelcomeMicrosPerDay }, state) => {
    const day = Math.floor(atMs / DAY_MS)
    const today = day === state.day ? state : none(day)
    // A process may have died before it opened the account.
    if (today.logins.has(login)) return repeat(login)
    if (today.logins.size >= maxPerDay || today.welcomeMicros + welcomeMicros > maxWelcomeMicrosPerDay)
      return refuse('registrations_full', { retryAfterMs: (day + 1) * DAY_MS - atMs })
    return accept([{ type: 'RegistrationAdmitted', data: { login, welcomeMicros } }])
  },
  evolve: (state, event) => {
    const { login, welcomeMicros } = event.data
    const day = Math.floor(Date.parse(clockOf(event)) / DAY_MS)
    const before = day === state.day ? state : none(day)
    return { day, logins: before.logins.add(login), welcomeMicros: before.welcomeMicros + welcomeMicros }
  },
}

/** The state with these logins, for snapshots. */
export const registrationsOf = (
  state: Omit<RegistrationsState, 'logins'> & { logins: string[] },
): RegistrationsState => ({
  ...state,
  logins: ImmutableSet(state.logins),
})
