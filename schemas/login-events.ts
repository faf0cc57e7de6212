import { type Static, Type } from 'typebox'
import { AccountId, Closed, type EventUnion, Micros, Sha256, Timestamp, Uuid } from './primitives.ts'
import { WelcomeWithheld } from './registration-events.ts'

/** An operator invited this identity. It may then open an account even with REGISTRATION=invite. */
export const LoginInvited = Closed({})

/**
 * A one-time code was made for this identity. `hash` is keyed, so the log does not reveal the code. With `linkTo`, the
 * code links the identity to that account instead of signing in. `known`: the browser had signed in to the identity's
 * account before. `busy`: only identities with an account got codes at the time.
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

/** A person entered a code for this identity. The first correct try uses up the code. */
export const LoginCodeTried = Closed({ codeId: Uuid, correct: Type.Boolean() })

/** This identity belongs to the account until it is unlinked. `additional`: another identity opened the account. */
export const LoginLinked = Closed({ accountId: AccountId, additional: Type.Optional(Type.Literal(true)) })
export type LoginLinked = Static<typeof LoginLinked>

/** This identity no longer belongs to the account, and may open another one, without welcome credits. */
export const LoginUnlinked = Closed({ accountId: AccountId })
export type LoginUnlinked = Static<typeof LoginUnlinked>

/**
 * The welcome credits for the account of an identity. `login` is the digest in the name of the identity's stream. The
 * event belongs to the stream of the mailbox's plain spelling, so all spellings get the credits once.
 */
export const WelcomeDecided = Closed({ login: Sha256, welcomeMicros: Micros, withheld: Type.Optional(WelcomeWithheld) })

/** All events of an identity, in its stream `login-<digest>`, by type. */
export const loginEvents = {
  LoginInvited,
  LoginCodeRequested,
  LoginCodeTried,
  LoginLinked,
  LoginUnlinked,
  WelcomeDecided,
}
export type LoginEvent = EventUnion<typeof loginEvents>
