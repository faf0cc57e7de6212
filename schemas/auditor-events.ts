import { type Static, Type } from 'typebox'
import { ActorName } from './actor.ts'
import { AccountId, AuditorId, Closed, type EventUnion, MAX_PAGE, OneOf, Sha256 } from './primitives.ts'

/** `name` is the one that events give as their actor. `hash` is SHA-256 of the key. */
export const AuditorKeyCreated = Closed({
  auditorId: AuditorId,
  name: ActorName,
  hash: Sha256,
  lastFour: Type.String({ minLength: 4, maxLength: 4 }),
})

export const AuditorKeyRevoked = Closed({ auditorId: AuditorId, hash: Sha256 })

/** Everything that can happen in the stream of auditors, by event type. */
export const auditorEvents = { AuditorKeyCreated, AuditorKeyRevoked }
export type AuditorEvent = EventUnion<typeof auditorEvents>

/** What auditors can read: the last part of the path under `/v1/audit`. */
const AUDIT_ROUTES = ['accounts', 'ledger', 'seals', 'reads', 'verify'] as const

/** Characters of a time or cursor in a request. Their patterns allow fewer. */
const short = Type.String({ minLength: 1, maxLength: 64 })

/** An auditor read something. The event precedes the answer, which may have been lost on its way. */
export const AuditorRead = Closed({
  auditorId: AuditorId,
  route: OneOf(...AUDIT_ROUTES),
  /** The parameters of the request, as it gave them. */
  parameters: Closed({
    account: Type.Optional(AccountId),
    kind: Type.Optional(OneOf('grant', 'withdrawal', 'debit', 'refund')),
    from: Type.Optional(short),
    to: Type.Optional(short),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
    cursor: Type.Optional(short),
  }),
})
export type AuditorRead = Static<typeof AuditorRead>

/** Everything that can happen in the stream of what auditors read, by event type. */
export const readEvents = { AuditorRead }
export type ReadEvent = EventUnion<typeof readEvents>
