import { Type } from 'typebox'
import { type AccountEvent, accountEvents } from './account-events.ts'
import { Actor } from './actor.ts'
import { type AuditorEvent, auditorEvents, type ReadEvent, readEvents } from './auditor-events.ts'
import { type CatalogEvent, catalogEvents } from './catalog-events.ts'
import { type LoginEvent, loginEvents } from './login-events.ts'
import { type OperatorEvent, operatorEvents } from './operator-events.ts'
import { type PeriodEvent, periodEvents } from './period-events.ts'
import { type AccountId, Closed, Sha256, Timestamp } from './primitives.ts'
import { type ProviderEvent, providerEvents } from './provider-events.ts'
import type { Recorded } from './recorded.ts'
import { type RegistrationEvent, registrationEvents } from './registration-events.ts'
import { type SealEvent, sealEvents } from './seal-events.ts'

/** `hash` chains the event to the previous event of its stream; see `src/engine/log/hash-chain.ts`. */
export const EventMetadata = Closed({
  format: Type.Optional(Type.Integer({ minimum: 2, maximum: 4 })),
  at: Timestamp,
  clock: Type.Optional(Timestamp),
  actor: Actor,
  requestId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  hash: Sha256,
})

/** The event types of each category of streams. A stream's category is its name up to the first hyphen. */
export const events = {
  account: accountEvents,
  catalog: catalogEvents,
  login: loginEvents,
  registrations: registrationEvents,
  seals: sealEvents,
  periods: periodEvents,
  auditors: auditorEvents,
  reads: readEvents,
  providers: providerEvents,
  operator: operatorEvents,
}

/** Whether a category is one stream with the category's name, or has streams named `<category>-<id>`. */
export const streamsOf: Record<keyof typeof events, 'one' | 'one for each id'> = {
  account: 'one for each id',
  catalog: 'one',
  login: 'one for each id',
  registrations: 'one',
  seals: 'one',
  periods: 'one',
  auditors: 'one',
  reads: 'one',
  providers: 'one',
  operator: 'one',
}

export type DomainEvent =
  | AccountEvent
  | CatalogEvent
  | LoginEvent
  | RegistrationEvent
  | SealEvent
  | PeriodEvent
  | AuditorEvent
  | ReadEvent
  | ProviderEvent
  | OperatorEvent
export type RecordedEvent = Recorded<DomainEvent>

const ACCOUNT_PREFIX = 'account-'
export const CATALOG_STREAM = 'catalog'
/** Counts the accounts that people have opened lately. */
export const REGISTRATIONS_STREAM = 'registrations'
export const SEALS_STREAM = 'seals'
export const PERIODS_STREAM = 'periods'
export const AUDITORS_STREAM = 'auditors'
/** The reads of auditors. */
export const READS_STREAM = 'reads'
/** The choices of operators among providers. */
export const PROVIDERS_STREAM = 'providers'
/** The alerts of the operator. */
export const OPERATOR_STREAM = 'operator'
export const accountStream = (accountId: AccountId) => `${ACCOUNT_PREFIX}${accountId}`
export const loginStream = (digest: string) => `login-${digest}`

/** The account of an event. The codec admits account events only to streams of accounts. */
export const accountOf = ({ stream }: Recorded<AccountEvent>): AccountId =>
  stream.slice(ACCOUNT_PREFIX.length) as AccountId

/** The account of a stream; undefined for any other stream. */
export const accountIn = (stream: string): AccountId | undefined =>
  stream.startsWith(ACCOUNT_PREFIX) ? (stream.slice(ACCOUNT_PREFIX.length) as AccountId) : undefined
