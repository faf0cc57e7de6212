import type { RunErrorCode } from '../../schemas/account-events.ts'
import type { RunId } from '../../schemas/primitives.ts'

/** Somebody who runs models. */
export interface Provider {
  /**
   * Does the work and hands back its outcome. Failures of the work are outcomes; a rejection is a broken provider.
   * The run id is the idempotency key. The signal aborts when the result is no longer wanted.
   */
  submit(job: Job, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

export interface Job {
  runId: RunId
  endpoint: string
  /** Valid for the endpoint's schema, defaults applied. */
  input: Record<string, unknown>
}

export type Outcome =
  | { kind: 'done'; media: Media[]; text?: string }
  | { kind: 'failed'; code: RunErrorCode; message: string }

/** A picture, film or sound in full. */
export interface Media {
  mimeType: string
  bytes: Uint8Array
}
