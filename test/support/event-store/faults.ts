import { Metadata, status } from '@grpc/grpc-js'
import type { Position } from '../../../schemas/recorded.ts'

/** How the server refuses a call, in the codes and words of EventStoreDB. */
export interface Refusal {
  code: status
  details: string
  metadata: Metadata
  /** How it refuses one append of many on a call; without it, the whole call ends. */
  inBatch?: BatchRefusal
}

/** A status with details of its own type, or one whose text is all that it says. */
export type BatchRefusal =
  | { details: 'AccessDenied' | 'StreamDeleted' | 'Timeout' | 'Unknown' }
  | { details: 'MaximumAppendSizeExceeded'; bytes: number }
  | { details: 'BadRequest'; text: string }
  | { text: string }

/** What becomes of an append. Most of these can happen to any server at any time. */
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
  /** It is written at once, and the answer comes so much later, behind those to later appends. */
  | { answeredAfterMs: number }
  /** It is written, and the answer says otherwise, as that of a leader whose commit took too long, or that lost its place. */
  | { writtenBut: Refusal }
  /** Nothing is written, and the stream is said to end at this revision. */
  | { wrongExpected: true; current: number }

/** What becomes of a read, or of a subscription after it has handed out so many events. */
export type ReadFate = { refuse: Refusal } | ReadEnd

/**
 * A read ends, breaks, falls silent or is refused after so many events. A leader that went on after SIGSTOP and SIGCONT
 * (24.10.4) answered two batches of 32 events to a read that requires the leader, and then ended it with not-leader:
 * `{ after: 64, by: notLeader(host, port) }`.
 */
export interface ReadEnd {
  after: number
  by: 'end' | 'break' | 'hang' | Refusal
}

export interface AppendAsked {
  stream: string
  requiresLeader: boolean
  /** Whether it is one of many on a call. */
  inBatch: boolean
}

export interface ReadAsked {
  kind: 'stream' | 'all' | 'subscription'
  /** The stream, where it is one. */
  stream: string | undefined
  requiresLeader: boolean
}

/** Asked at each call; undefined leaves it as it is. */
export interface Faults {
  append?: ((asked: AppendAsked) => AppendFate | undefined) | undefined
  read?: ((asked: ReadAsked) => ReadFate | undefined) | undefined
  /** With the position, in the embedded log, after which it begins. */
  subscription?: ((after: Position, asked: ReadAsked) => ReadFate | undefined) | undefined
  /** The server does not say which methods and version it has, like one before 21.10. */
  hidesFeatures?: boolean | undefined
  /** Data comes as something else than it was. */
  garbles?: boolean | undefined
  /** How long a call takes on its way. */
  delayMs?: number | undefined
  /** Whether the server says where events stand that it has already. */
  hidesPositionOfRepeated?: boolean | undefined
}

const refusal = (
  code: status,
  details: string,
  { pairs = {}, inBatch }: { pairs?: Record<string, string>; inBatch?: BatchRefusal } = {},
): Refusal => {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(pairs)) metadata.set(name, value)
  return { code, details, metadata, ...(inBatch && { inBatch }) }
}

/** On a call of many appends it is thrown where the answers are made, which ends the call with all that is on it. */
export const notLeader = (host: string, port: number): Refusal =>
  refusal(status.NOT_FOUND, 'Leader info available', {
    pairs: { exception: 'not-leader', 'leader-endpoint-host': host, 'leader-endpoint-port': String(port) },
  })
export const noLeaderInfo = () => {
  const text = 'No leader info available in response'
  return refusal(status.UNKNOWN, text, { inBatch: { text } })
}
export const accessDenied = () =>
  refusal(status.PERMISSION_DENIED, 'Access Denied', {
    pairs: { exception: 'access-denied' },
    inBatch: { details: 'AccessDenied' },
  })
export const maximumAppendSizeExceeded = (bytes: number) =>
  refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytes} Exceeded.`, {
    pairs: { exception: 'maximum-append-size-exceeded', 'maximum-append-size': String(bytes) },
    inBatch: { details: 'MaximumAppendSizeExceeded', bytes },
  })
export const streamDeleted = (stream: string) =>
  refusal(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    pairs: { exception: 'stream-deleted', 'stream-name': stream },
    inBatch: { details: 'StreamDeleted' },
  })
export const timedOut = () =>
  refusal(status.ABORTED, 'Operation timed out: commit phase', { inBatch: { details: 'Timeout' } })
export const notReady = () => {
  const text = 'Server Is Not Ready'
  return refusal(status.UNAVAILABLE, text, { inBatch: { text } })
}
/** The two methods say it in different words. */
export const serverBusy = () =>
  refusal(status.UNAVAILABLE, 'Server Is Too Busy', { inBatch: { text: 'Server Is Busy' } })
/** What 23.10.6 says to a live subscription whose consumer fell 32 events behind. */
export const consumerTooSlow = () =>
  refusal(
    status.ABORTED,
    'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
  )
export const invalidPosition = () => refusal(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.')
export const badRequest = (text: string) =>
  refusal(status.INVALID_ARGUMENT, text, { inBatch: { details: 'BadRequest', text } })
export const unknown = (error: Error) => refusal(status.UNKNOWN, error.message, { inBatch: { details: 'Unknown' } })

/** Ends a call, or one append of a call, as a refusal says. */
export class Refused extends Error {
  override name = 'Refused'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.details)
    this.refusal = refusal
  }
}

export const toRefusal = (error: unknown): Refusal =>
  error instanceof Refused ? error.refusal : unknown(error as Error)
