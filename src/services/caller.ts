import type { Actor, KeyScope } from '../../schemas/actor.ts'
import type { AccountId, AuditorId, KeyId, Moded, SessionId } from '../../schemas/primitives.ts'
import type { Cause } from '../engine/streams/stream.ts'

/**
 * The caller of a service. Every service function takes it first, and the log records it as the event's `actor`. An
 * anonymous caller has no key; it may read what is public, and changes nothing in the log.
 */
export type Caller = (
  | KeyHolder
  | SessionOwner
  | { kind: 'operator'; name: string }
  | AuditorCaller
  | { kind: 'reactor' }
  | { kind: 'service' }
  | { kind: 'anonymous' }
) & { requestId?: string | undefined }

/** A caller that acts for one account. */
export type AccountCaller = Extract<Caller, { accountId: AccountId }>

/** A client with an API key of the account. The mode is that of the key in the account's own state. */
export interface KeyHolder extends Moded {
  kind: 'key'
  accountId: AccountId
  keyId: KeyId
  scope: KeyScope
}

/** The account's owner, signed in. */
export interface SessionOwner {
  kind: 'session'
  accountId: AccountId
  sessionId: SessionId
  requestId?: string | undefined
}

/** An auditor with a key, who reads all accounts and writes nothing but the record of that. */
export interface AuditorCaller {
  kind: 'auditor'
  auditorId: AuditorId
  name: string
  requestId?: string | undefined
}

/** The service itself, which acts for somebody who is not signed in yet. */
export const serviceFor = ({ requestId }: Caller): Caller => ({ kind: 'service', requestId })

/** The caller as the log records it. */
export const causeOf = (caller: Caller): Cause => ({ actor: actorOf(caller), requestId: caller.requestId })

/** The caller's key, which must still be active when the account writes; undefined for callers without one. */
export const keyIdOf = (caller: Caller): KeyId | undefined => (caller.kind === 'key' ? caller.keyId : undefined)

/** The mode of what a caller makes. Callers without a key are live. */
export const modeOf = (caller: Caller): { livemode?: false } =>
  caller.kind === 'key' && caller.livemode === false ? { livemode: false } : {}

/** Whether a caller sees something of a mode. A key sees its own mode alone. */
export const isSeenBy = (caller: Caller, { livemode }: Moded): boolean =>
  caller.kind !== 'key' || caller.livemode === livemode

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
