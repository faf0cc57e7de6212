import { Metadata, status } from '@grpc/grpc-js'
import type { Position } from '../../../schemas/recorded.ts'

/** How the server refuses a call, in EventStoreDB's codes and words. */
export interface Refusal {
  code: status
  details: string
  metadata: Metadata
  /** How it refuses a single append of a batch call. Undefined ends the whole call. */
  inBatch?: BatchRefusal
}

/** A status with typed details, or with text only. */
export type BatchRefusal =
  | { details: 'AccessDenied' | 'StreamDeleted' | 'Timeout' | 'Unknown' }
  | { details: 'MaximumAppendSizeExceeded'; bytes: number }
  | { details: 'BadRequest'; text: string }
  | { text: string }

/** The fate of an append. Most of these can happen on any server at any time. */
export type AppendFate =
  | { refuse: Refusal }
  /** Nothing is written; the connection breaks, or no response ever arrives. */
  | 'broken before'
  | 'unheard'
  /** Everything is written; the connection breaks, or no response ever arrives. */
  | 'broken after'
  | 'unanswered'
  /** Written after a delay. */
  | { afterMs: number }
  /** Written at once, but answered after a delay, behind later appends. */
  | { answeredAfterMs: number }
  /** Written, but the response denies it, like a leader whose commit timed out or that was deposed. */
  | { writtenBut: Refusal }
  /** Nothing is written, and the response claims that the stream ends at this revision. */
  | { wrongExpected: true; current: number }

/** The fate of a read or subscription after a number of events. */
export type ReadFate = { refuse: Refusal } | ReadEnd

/**
 * A read ends, breaks, falls silent or is refused after a number of events. A leader that resumed after SIGSTOP
 * (24.10.4) answered a read that requires the leader with two batches of 32 events, then ended it with not-leader: `{
 * after: 64, by: notLeader(host, port) }`.
 */
export interface ReadEnd {
  after: number
  by: 'end' | 'break' | 'hang' | Refusal
}

export interface AppendRequest {
  stream: string
  requiresLeader: boolean
  /** Whether it is part of a batch call. */
  inBatch: boolean
}

export interface ReadRequest {
  kind: 'stream' | 'all' | 'subscription'
  /** The stream, for reads of one. */
  stream: string | undefined
  requiresLeader: boolean
}

/** Called for each request; undefined means no fault. */
export interface Faults {
  append?: ((request: AppendRequest) => AppendFate | undefined) | undefined
  read?: ((request: ReadRequest) => ReadFate | undefined) | undefined
  /** Receives the position in the embedded log after which it starts. */
  subscription?: ((after: Position, request: ReadRequest) => ReadFate | undefined) | undefined
  /** The server does not report its methods and version, like servers before 21.10. */
  hidesFeatures?: boolean | undefined
  /** Corrupts data. */
  garbles?: boolean | undefined
  /** The delay of a call. */
  delayMs?: number | undefined
  /** Whether the response to a repeated append has a position. */
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

/** Ends a call. In a batch call it is thrown while answering, which ends all appends on the call. */
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
/** The two methods use different words. */
export const serverBusy = () =>
  refusal(status.UNAVAILABLE, 'Server Is Too Busy', { inBatch: { text: 'Server Is Busy' } })
/** The error of 23.10.6 for a live subscription that fell 32 events behind. */
export const consumerTooSlow = () =>
  refusal(
    status.ABORTED,
    'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
  )
export const invalidPosition = () => refusal(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.')
export const badRequest = (text: string) =>
  refusal(status.INVALID_ARGUMENT, text, { inBatch: { details: 'BadRequest', text } })
export const unknown = (error: Error) => refusal(status.UNKNOWN, error.message, { inBatch: { details: 'Unknown' } })

/** Ends a call, or one append of it, with a refusal. */
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
