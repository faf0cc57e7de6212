import type { Actor, KeyScope } from '../../schemas/actor.ts'
import type { AccountId, AuditorId, KeyId, Moded, SessionId } from '../../schemas/primitives.ts'
import type { Cause } from '../engine/streams/stream.ts'
import type { RequestRecord } from './request-record.ts'

/**
 * The caller of a service: the first argument of every service function, which the log records as the event's `actor`.
 * An anonymous caller has no key. It may read public data, and changes nothing in the log.
 */
export type Caller = (
  | KeyHolder
  | SessionOwner
  | { kind: 'operator'; name: string }
  | OperatorInAccount
  | AuditorCaller
  | { kind: 'reactor' }
  | { kind: 'service' }
  | { kind: 'anonymous' }
) & { requestId?: string | undefined; record?: RequestRecord | undefined }

/** A caller that acts for one account. */
export type AccountCaller = Extract<Caller, { accountId: AccountId }>

/** A client with an API key of the account. The account's own state decides the key's mode. */
export interface KeyHolder extends Moded {
  kind: 'key'
  accountId: AccountId
  keyId: KeyId
  scope: KeyScope
}

/** The account's owner, signed in. The browser says in which mode it works. */
export interface SessionOwner extends Moded {
  kind: 'session'
  accountId: AccountId
  sessionId: SessionId
  requestId?: string | undefined
  record?: RequestRecord | undefined
}

/** An operator who looks at an account as its owner sees it. Only reads have such a caller. */
export interface OperatorInAccount extends Moded {
  kind: 'operator'
  name: string
  accountId: AccountId
  requestId?: string | undefined
}

/** An auditor with a key, who reads all accounts, and writes only the record of these reads. */
export interface AuditorCaller {
  kind: 'auditor'
  auditorId: AuditorId
  name: string
  requestId?: string | undefined
}

/** The service itself, acting for a person who has not signed in yet. */
export const serviceFor = ({ requestId }: Caller): Caller => ({ kind: 'service', requestId })

/** The log's record of the caller. */
export const causeOf = (caller: Caller): Cause => ({ actor: actorOf(caller), requestId: caller.requestId })

/** The caller's key, which must still be active when the account writes; undefined for a caller without a key. */
export const keyIdOf = (caller: Caller): KeyId | undefined => (caller.kind === 'key' ? caller.keyId : undefined)

/** The mode of the caller's objects. Callers with neither a key nor a session are live. */
export const modeOf = (caller: Caller): { livemode?: false } =>
  'accountId' in caller && caller.livemode === false ? { livemode: false } : {}

/** Whether a caller sees an object of a mode. A key sees only its own mode, and so does a session in test mode. */
export const isSeenBy = (caller: Caller, { livemode }: Moded): boolean =>
  (caller.kind !== 'key' && modeOf(caller).livemode !== false) || modeOf(caller).livemode === livemode

/** Whether a caller's lists have an object of a mode. A live session sees test objects only by their IDs. */
export const isListedFor = (caller: AccountCaller, { livemode }: Moded): boolean => modeOf(caller).livemode === livemode

const actorOf = (caller: Caller): Actor => {
  switch (caller.kind) {
    case 'key':
      return { kind: caller.kind, keyId: caller.keyId }
    case 'session':
      return { kind: caller.kind, sessionId: caller.sessionId }
    case 'operator':
    case 'auditor':
      return { kind: caller.kind, name: caller.name }
    case 'reactor':
    case 'service':
      return { kind: caller.kind }
    case 'anonymous':
      throw new Error('a request without a key cannot change anything')
  }
}
