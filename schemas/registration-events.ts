import { Type } from 'typebox'
import { Closed, type EventUnion, Micros, Sha256 } from './primitives.ts'

/**
 * An identity may open an account today and get these welcome credits. `login` is the hash in the name of its stream,
 * and `network` a keyed hash of the client's network unless the operator has named the identity or its domain. The
 * stream counts what all registrations of a day may add up to.
 */
export const RegistrationAdmitted = Closed({
  login: Sha256,
  welcomeMicros: Micros,
  network: Type.Optional(Sha256),
})

export const registrationEvents = { RegistrationAdmitted }
export type RegistrationEvent = EventUnion<typeof registrationEvents>
