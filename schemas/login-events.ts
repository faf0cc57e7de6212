import { AccountId, Closed, type EventUnion } from './primitives.ts'

/** The one event of a `login-<hash>` stream: this identity belongs to that account. */
export const LoginLinked = Closed({ accountId: AccountId })

export const loginEvents = { LoginLinked }
export type LoginEvent = EventUnion<typeof loginEvents>
