import { Metadata, status } from '@grpc/grpc-js'
import type { Position } from '../../schemas/recorded.ts'

/** How the server may refuse, in the codes and words of EventStoreDB. */
export interface Refusal {
  code: status
  details: string
  metadata: Metadata
}

/** What becomes of an append. */
export type AppendFate =
  | { refuse: Refusal }
  /** Nothing is written, and the connection breaks, or no answer ever comes. */
  | 'broken before'
  | 'unheard'
  /** All is written, and the connection breaks, or no answer ever comes. */
  | 'broken after'
  | 'unanswered'
  /** It is written so much later. */
  | { afterMs: number }

/** What becomes of a read, or of a subscription after it has handed out so many events. */
export type ReadFate = { refuse: Refusal } | ReadEnd

/** A read ends, breaks or falls silent after so many events. */
export interface ReadEnd {
  after: number
  by: 'end' | 'break' | 'hang' | Refusal
}

/** Asked at each call; undefined leaves it as it is. */
export interface Faults {
  append?: (() => AppendFate | undefined) | undefined
  read?: (() => ReadFate | undefined) | undefined
  /** With the position, in the embedded log, after which it begins. */
  subscription?: ((after: Position) => ReadFate | undefined) | undefined
  /** Data comes as something else than it was. */
  garbles?: boolean | undefined
  /** How long a call takes on its way. */
  delayMs?: number | undefined
  /** Whether the server says where events stand that it has already. */
  hidesPositionOfRepeated?: boolean | undefined
}

const refusal = (code: status, details: string, pairs: Record<string, string> = {}): Refusal => {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(pairs)) metadata.set(name, value)
  return { code, details, metadata }
}

export const notLeader = (host: string, port: number): Refusal =>
  refusal(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  })
export const accessDenied = () => refusal(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' })
export const maximumAppendSizeExceeded = (bytes: number) =>
  refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytes} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(bytes),
  })
export const streamDeleted = (stream: string) =>
  refusal(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  })
export const timedOut = () => refusal(status.ABORTED, 'Operation timed out: commit phase')
export const notReady = () => refusal(status.UNAVAILABLE, 'Server Is Not Ready')
export const consumerTooSlow = () => refusal(status.ABORTED, 'Operation timed out: consumer too slow')
export const invalidPosition = () => refusal(status.INVALID_ARGUMENT, 'Invalid position')
export const unknown = (error: Error) => refusal(status.UNKNOWN, error.message)
