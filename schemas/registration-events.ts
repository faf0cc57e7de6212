import { type Static, Type } from 'typebox'
import { Closed, type EventUnion, Micros, OneOf, Sha256 } from './primitives.ts'

/**
 * The reasons to withhold welcome credits: another spelling of the mailbox got them, or the identity had an account;
 * the network, or all accounts together, reached the limit of the day; or the address is disposable.
 */
export const WELCOME_WITHHELD = ['alias', 'network', 'day', 'disposable'] as const
export const WelcomeWithheld = OneOf(...WELCOME_WITHHELD)
export type WelcomeWithheld = Static<typeof WelcomeWithheld>

/**
 * An identity may open an account today and gets these welcome credits. `login` is the digest in the name of its
 * stream. `network` and `provider` are keyed hashes of the client's network and of the wider network around it, unless
 * the operator has named the identity or its domain. The stream enforces the limits of a day.
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
