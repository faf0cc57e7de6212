import { RevisionConflict } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'

/** The request did nothing, and another server, or a new connection, may take it at once. */
export class NotTaken extends Unavailable {}

/**
 * What the failure of a request means. An append may have been written whatever went wrong, but for those failures by
 * which the server, or the connection that never was, says otherwise. A read never writes.
 */
export const toEventStoreFault = (cause: unknown, server: string, kind: 'append' | 'read'): Error => {
  if (cause instanceof RevisionConflict || cause instanceof Damaged || cause instanceof RangeError) return cause
  const { code, details, message, metadata } = cause as ServiceError
  const exception = String(metadata?.get('exception')[0] ?? '')
  const place = `EventStoreDB at ${server}`
  if (exception === 'not-leader') return new NotTaken(`${place} is not the leader of its cluster`, { cause })
  if (message === CLOSED_BY_CLIENT) return new NotTaken(`${place} was disconnected`, { cause })
  if (exception === 'stream-deleted')
    return new Damaged(`${place} had a stream of ours deleted; restore it from a backup`)
  const refusal = REFUSED.find(([matches]) => matches(exception, code))?.[1]
  if (refusal) return new Unavailable(`${place} ${refusal}`, { cause })
  const said = details || message || 'no reason'
  const Fault = kind === 'read' || NOT_SENT.test(said) ? Unavailable : Error
  return new Fault(`${place} does not answer as it should (${said})`, { cause })
}

/** How the vendor's client fails; the reasons of the server are in the metadata. */
interface ServiceError extends Error {
  code?: number
  details?: string
  metadata?: { get(key: string): (string | Buffer)[] }
}

const PERMISSION_DENIED = 7
const UNAUTHENTICATED = 16

/** Refusals with which nothing was written, and what an operator can do about them. */
const REFUSED: [(exception: string, code: number | undefined) => boolean, string][] = [
  [
    (exception, code) => exception === 'access-denied' || code === UNAUTHENTICATED || code === PERMISSION_DENIED,
    'refuses the access; check the user, the password and tls in its address, and the rights of the user there',
  ],
  [
    exception => exception === 'maximum-append-size-exceeded',
    'does not take so many bytes in one append; raise MaxAppendSize there',
  ],
]

/** What the client throws when it is asked for a request just as it changes to another connection. */
const CLOSED_BY_CLIENT = 'Channel has been shut down'

/** The request never left, or the server says that it does not take any now. */
const NOT_SENT =
  /^(No connection established|Name resolution failed|Failed to discover|Server Is (Not Ready|Too Busy)|No leader info)/
