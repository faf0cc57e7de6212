import { type Static, Type } from 'typebox'
import { ActorName } from './actor.ts'
import { AccountId, AuditorId, Closed, type EventUnion, LEDGER_KINDS, MAX_PAGE, OneOf, Sha256 } from './primitives.ts'

/** `name` is the auditor's name as the actor of events. `hash` is SHA-256 of the key. */
export const AuditorKeyCreated = Closed({
  auditorId: AuditorId,
  name: ActorName,
  hash: Sha256,
  lastFour: Type.String({ minLength: 4, maxLength: 4 }),
})

export const AuditorKeyRevoked = Closed({ auditorId: AuditorId, hash: Sha256 })

/** All events of the stream of auditors, by type. */
export const auditorEvents = { AuditorKeyCreated, AuditorKeyRevoked }
export type AuditorEvent = EventUnion<typeof auditorEvents>

/** The resources for auditors: the last part of the path under `/v1/audit`. */
const AUDIT_ROUTES = ['accounts', 'ledger', 'seals', 'reads', 'verify'] as const

/** The longest time or cursor in a request. Their patterns allow fewer characters. */
const short = Type.String({ minLength: 1, maxLength: 64 })

/** An auditor sent a request to read. The event precedes the response, which may have been lost. */
export const AuditorRead = Closed({
  auditorId: AuditorId,
  route: OneOf(...AUDIT_ROUTES),
  /** The parameters of the request. */
  parameters: Closed({
    account: Type.Optional(AccountId),
    kind: Type.Optional(OneOf(...LEDGER_KINDS)),
    from: Type.Optional(short),
    to: Type.Optional(short),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
    cursor: Type.Optional(short),
  }),
})
export type AuditorRead = Static<typeof AuditorRead>

/** All events of the stream of auditors' reads, by type. */
export const readEvents = { AuditorRead }
export type ReadEvent = EventUnion<typeof readEvents>
