import { status } from '@grpc/grpc-js'
import { RevisionConflict } from '../../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../../ports/faults.ts'

/** The request did nothing, and may be made again in a moment. */
export class NotTaken extends Unavailable {}

/** The same, and it takes a new connection, or another server. */
export class Disconnected extends NotTaken {}

/** The server refuses, and will do so until the operator has changed something. Nothing was done. */
export class Refused extends Unavailable {}

/** The server has ended a live read that fell behind (23.10). It may be taken up at once where it was. */
export class FellBehind extends Unavailable {}

/**
 * What the failure of a request means. An append may have been written whatever went wrong, except for failures by which
 * the server, or a connection that was never made, says otherwise. A read never writes.
 */
export const toEventStoreFault = (cause: unknown, place: string, kind: 'append' | 'read'): Error => {
  if (KNOWN.some(known => cause instanceof known)) return cause as Error
  const { code, details, message, metadata } = cause as ServiceError
  const exception = String(metadata?.get('exception')[0] ?? '')
  if (exception === 'not-leader') return new Disconnected(`${place} is not the leader of its cluster`, { cause })
  if (exception === 'stream-deleted') return streamDeleted(place)
  if (exception === 'access-denied' || code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED)
    return accessDenied(place, cause)
  if (exception === 'maximum-append-size-exceeded') return tooLarge(place, cause)
  const said = details || message || 'no reason'
  if (FELL_BEHIND.test(said)) return new FellBehind(`${place} has ended a subscription that fell behind`, { cause })
  const isBroken = NOT_SENT.test(said) || (kind === 'read' && code === status.UNAVAILABLE)
  const Fault = NOT_NOW.test(said) ? NotTaken : isBroken ? Disconnected : kind === 'read' ? Unavailable : Error
  return new Fault(`${place} does not answer as it should (${said})`, { cause })
}

/** An append that the server refuses with a status of its own, in the call that it shares with others. */
export const toAppendFault = (type: string, said: string, place: string): Error => {
  if (type.endsWith('.AccessDenied')) return accessDenied(place)
  if (type.endsWith('.StreamDeleted')) return streamDeleted(place)
  if (/\.MaximumAppend(Event)?SizeExceeded$/.test(type)) return tooLarge(place)
  const Fault = NOT_NOW.test(said) ? NotTaken : Error
  return new Fault(`${place} does not answer as it should (${said || type})`)
}

const KNOWN = [RevisionConflict, Damaged, Unavailable, RangeError]

/** How gRPC fails; the server's reasons are in the metadata. */
interface ServiceError extends Error {
  code?: number
  details?: string
  metadata?: { get(key: string): (string | Buffer)[] }
}

/** The server takes no requests for now. */
const NOT_NOW = /^(Server Is (Not Ready|Too Busy|Busy)|No leader info)/

/** The request never left. */
const NOT_SENT = /^(No connection established|Name resolution failed|Channel has been shut)/

/** Seen on 23.10.6; from 24.2 on the server catches up by itself. */
const FELL_BEHIND = /Consumer too slow to handle event/

const accessDenied = (place: string, cause?: unknown) =>
  new Refused(
    `${place} refuses the access; check the user, the password and tls in its address, and the rights of the user there`,
    { cause },
  )

const tooLarge = (place: string, cause?: unknown) =>
  new Unavailable(`${place} does not take so many bytes in one append; raise MaxAppendSize there`, { cause })

const streamDeleted = (place: string) => new Damaged(`${place} had a stream of ours deleted; restore it from a backup`)
