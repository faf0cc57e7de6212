import { type Static, Type } from 'typebox'
import { Closed, type EventUnion, Micros, OneOf, Sha256 } from './primitives.ts'

/**
 * Why an account opens without welcome credits: another address of the same mailbox got them, its network or all
 * accounts together have had those of the day, or anybody can have such an address for some minutes.
 */
export const WELCOME_WITHHELD = ['alias', 'network', 'day', 'disposable'] as const
export const WelcomeWithheld = OneOf(...WELCOME_WITHHELD)
export type WelcomeWithheld = Static<typeof WelcomeWithheld>

/**
 * An identity may open an account today and get these welcome credits. `login` is the hash in the name of its stream,
 * and `network` and `provider` are keyed hashes of the client's network and of the wider one around it, unless the
 * operator has named the identity or its domain. The stream counts what all registrations of a day may add up to.
 */
export const RegistrationAdmitted = Closed({
  login: Sha256,
  welcomeMicros: Micros,
  network: Type.Optional(Sha256),
  provider: Type.Optional(Sha256),
  withheld: Type.Optional(WelcomeWithheld),
})

export const registrationEvents = { RegistrationAdmitted }
export type RegistrationEvent = EventUnion<typeof registrationEvents>
