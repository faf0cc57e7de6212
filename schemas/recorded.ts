import { type Static, Type } from 'typebox'
import { type AccountEvent, accountEvents } from './account-events.ts'
import { type CatalogEvent, catalogEvents } from './catalog-events.ts'
import { type LoginEvent, loginEvents } from './login-events.ts'
import { type AccountId, Closed, KeyId, OneOf, Sha256, Tagged, Timestamp } from './primitives.ts'

/** Who wanted what happened. */
export const Actor = Tagged(
  'kind',
  Closed({ kind: Type.Literal('key'), keyId: KeyId }),
  Closed({ kind: OneOf('operator', 'reactor', 'service') }),
)
export type Actor = Static<typeof Actor>

/** `hash` chains the event to the one before it in its stream; see `src/engine/log/hash-chain.ts`. */
export const Metadata = Closed({
  at: Timestamp,
  actor: Actor,
  requestId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  hash: Sha256,
})
export type Metadata = Static<typeof Metadata>

/** Every event type that the log may hold. */
export const events = { ...accountEvents, ...catalogEvents, ...loginEvents }
export type DomainEvent = AccountEvent | CatalogEvent | LoginEvent

/** The place of an event in the whole log. Positions rise, and may have gaps. */
export type Position = number

/** An event as it stands in the log, not yet checked. */
export interface RawEvent {
  id: string
  stream: string
  /** The place in its stream, from 0, without gaps. */
  revision: number
  position: Position
  type: string
  data: unknown
  metadata: unknown
}

/** An event that was read from the log and checked against its schema. */
export type Recorded<Event extends { type: string; data: unknown } = DomainEvent> = Event & {
  id: string
  stream: string
  revision: number
  position: Position
  metadata: Metadata
}

const ACCOUNT_PREFIX = 'account-'
export const CATALOG_STREAM = 'catalog'
export const accountStream = (accountId: AccountId) => `${ACCOUNT_PREFIX}${accountId}`
export const loginStream = (identityHash: string) => `login-${identityHash}`

/** The account whose stream an event stands in; undefined for the catalog and for logins. */
export const accountOf = (event: { stream: string }): AccountId | undefined =>
  event.stream.startsWith(ACCOUNT_PREFIX) ? (event.stream.slice(ACCOUNT_PREFIX.length) as AccountId) : undefined
