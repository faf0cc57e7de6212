import { type Static, Type } from 'typebox'
import { AccountId, Closed, type EventUnion, Micros, Sha256, Timestamp, Uuid } from './primitives.ts'
import { WelcomeWithheld } from './registration-events.ts'

/** An operator invites this identity, which may then open an account with REGISTRATION=invite. */
export const LoginInvited = Closed({})

/**
 * A one-time code was made for this identity. `hash` is keyed, so the log does not reveal the code. With `linkTo`, the
 * code links the identity to that account and signs nobody in. `known` is set if the request came from a browser that
 * had signed in to the account of the identity. `busy` is set if only identities with an account got codes at the time.
 */
export const LoginCodeRequested = Closed({
  codeId: Uuid,
  hash: Sha256,
  expiresAt: Timestamp,
  linkTo: Type.Optional(AccountId),
  known: Type.Optional(Type.Literal(true)),
  busy: Type.Optional(Type.Literal(true)),
})
export type LoginCodeRequested = Static<typeof LoginCodeRequested>

/** Somebody entered a code for it. The first correct try uses the code up. */
export const LoginCodeTried = Closed({ codeId: Uuid, correct: Type.Boolean() })

/**
 * This identity belongs to that account, forever. `additional` is set if the account was opened with another identity
 * before.
 */
export const LoginLinked = Closed({ accountId: AccountId, additional: Type.Optional(Type.Literal(true)) })
export type LoginLinked = Static<typeof LoginLinked>

/**
 * The welcome credits that the account of an identity opens with. `login` is the hash in the name of its stream. The
 * event is in the stream of the plain spelling, which gets them once for all spellings of a mailbox.
 */
export const WelcomeDecided = Closed({ login: Sha256, welcomeMicros: Micros, withheld: Type.Optional(WelcomeWithheld) })

/** Everything that can happen to one identity, in its stream `login-<hash>`. */
export const loginEvents = { LoginInvited, LoginCodeRequested, LoginCodeTried, LoginLinked, WelcomeDecided }
export type LoginEvent = EventUnion<typeof loginEvents>
