import { status } from '@grpc/grpc-js'
import { RevisionConflict } from '../../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../../ports/faults.ts'

/** The request had no effect and can be retried. */
export class NotHandled extends Unavailable {
  override readonly part = 'log'
}

/** The request had no effect, and can be retried over a new connection or at another server. */
export class LeaderLost extends NotHandled {}

/** The server refuses until an operator changes something. The request had no effect. */
export class Refused extends Unavailable {
  override readonly part = 'log'
}

/** The server has ended a live read that fell behind (23.10). It can resume at once. */
export class FellBehind extends Unavailable {
  override readonly part = 'log'
}

/**
 * Maps the failure of a call. An append may have been written unless the server, or a connection that was never made,
 * rules it out. A read never writes.
 */
export const toEventStoreFault = (cause: unknown, place: string, kind: 'append' | 'read'): Error => {
  if (KNOWN.some(known => cause instanceof known)) return cause as Error
  const { code } = cause as ServiceError
  const exception = exceptionOf(cause)
  if (exception === 'not-leader') return new LeaderLost(`${place} is not the leader of its cluster`, { cause })
  if (exception === 'stream-deleted') return streamDeleted(place)
  if (exception === 'access-denied' || code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED)
    return accessDenied(place, cause)
  if (exception === 'maximum-append-size-exceeded') return tooLarge(place, cause)
  const message = messageOf(cause)
  if (FELL_BEHIND.test(message)) return new FellBehind(`${place} ended a subscription that fell behind`, { cause })
  const isBroken = NOT_SENT.test(message) || (kind === 'read' && code === status.UNAVAILABLE)
  const Fault = NOT_NOW.test(message) ? NotHandled : isBroken ? LeaderLost : kind === 'read' ? Unavailable : Error
  return new Fault(`request to ${place} failed: ${message}`, { cause })
}

/** Maps the status with which the server refuses a single append. */
export const toAppendFault = (type: string, message: string, place: string): Error => {
  if (type.endsWith('.AccessDenied')) return accessDenied(place)
  if (type.endsWith('.StreamDeleted')) return streamDeleted(place)
  if (/\.MaximumAppend(Event)?SizeExceeded$/.test(type)) return tooLarge(place)
  const Fault = NOT_NOW.test(message) ? NotHandled : Error
  return new Fault(`request to ${place} failed: ${message || type}`)
}

/** Whether a server ended a call because it is not the leader. */
export const isNotLeader = (cause: unknown): boolean => exceptionOf(cause) === 'not-leader'

/** Whether a call failed before anything was sent. */
export const wasNotSent = (cause: unknown): boolean => NOT_SENT.test(messageOf(cause))

const KNOWN = [RevisionConflict, Damaged, Unavailable, RangeError]

/** A gRPC error. The metadata holds the server's reason. */
interface ServiceError extends Error {
  code?: number
  details?: string
  metadata?: { get(key: string): (string | Buffer)[] }
}

const exceptionOf = (cause: unknown): string => String((cause as ServiceError).metadata?.get('exception')[0] ?? '')

const messageOf = (cause: unknown): string => {
  const { details, message } = cause as ServiceError
  return details || message || 'no reason'
}

/** The server temporarily accepts no requests. */
const NOT_NOW = /^(Server Is (Not Ready|Too Busy|Busy)|No leader info)/

/** The request was never sent. */
const NOT_SENT = /^(No connection established|Name resolution failed|Channel has been shut)/

/** Seen on 23.10.6. Since 24.2, the server catches up without ending the call. */
const FELL_BEHIND = /Consumer too slow to handle event/

const accessDenied = (place: string, cause?: unknown) =>
  new Refused(
    `${place} denies access; check the user, password and tls setting in EVENT_STORE_URL, and the user's permissions`,
    { cause },
  )

const tooLarge = (place: string, cause?: unknown) =>
  new Unavailable(`${place} rejects an append of this size; raise MaxAppendSize`, { part: 'log', cause })

const streamDeleted = (place: string) =>
  new Damaged(`${place} reports that a stream of this log was deleted; restore it from a backup`)
