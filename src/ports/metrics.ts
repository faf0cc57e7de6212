import type { Part } from './faults.ts'

/** Counts and times the work of one process for its operator. No decision depends on the numbers. */
export interface Metrics {
  /** A request was answered, or its client had left. */
  answered(request: AnsweredRequest, seconds: number): void
  /** An event stream to a client began. Returns a function to call at its end. */
  streamOpened(): () => void
  /** The log wrote events of one stream. */
  appended(events: number, seconds: number): void
  appendFailed(reason: (typeof appendFaults)[number]): void
  /** The embedded log wrote the events of all waiting appends together. */
  committed(events: number): void
  called(call: ProviderCall, seconds: number): void
  runEnded(run: EndedRun): void
  /** The times of a run that this process accepted and ended. */
  runTook(mode: string, seconds: { upstream: number; own: number }): void
  creditsMoved(direction: 'debited' | 'released' | 'refunded', amountMicros: number): void
  webhookAttempted(outcome: 'delivered' | 'failed'): void
  webhookAbandoned(): void
  /** Reads the state of the process whenever the numbers are asked for. */
  watch(state: WatchedState): void
  /** All numbers, as text for Prometheus. */
  text(): Promise<{ contentType: string; body: string }>
}

/** `conflict`: another writer was faster; `in_doubt`: the log did not say whether it wrote. */
export const appendFaults = ['conflict', 'unavailable', 'in_doubt'] as const

export interface AnsweredRequest {
  method: string
  /** The pattern of the route; undefined if none matches. */
  route: string | undefined
  /** CLIENT_LEFT if the client did not wait. */
  status: number
  /** The part of the service that was unavailable, of a 503. */
  unavailable: Part | undefined
}

/** The status of requests whose clients disconnected before the answer, as in nginx. */
export const CLIENT_LEFT = 499

export interface ProviderCall {
  provider: string
  operation: 'submit' | 'poll' | 'cancel'
  /** The kind of the answer, the fault, or `no_answer`. */
  outcome: string
}

export interface EndedRun {
  /** Unknown if another process accepted the run, and no provider was asked. */
  family: string | undefined
  /** `completed`, or the code of the failure. */
  outcome: string
  isTest: boolean
}

/** What is read when the numbers are asked for. A read that rejects leaves its numbers out. */
export interface WatchedState {
  queues?: () => Promise<QueueState[]>
  projectorLag(): Promise<{ events: number; seconds: number }>
  openBreakers(): { provider: string; kind: string }[]
  callsInFlight(): { provider: string; calls: number; maxCalls: number }[]
  connections(): Promise<number>
  freeBytes(): Promise<{ store: string; bytes: number }[]>
}

/** Work that is due and not done. */
export interface QueueState {
  queue: string
  length: number
  oldestSeconds: number
}
