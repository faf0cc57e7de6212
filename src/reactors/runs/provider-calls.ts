import type { FilePlace } from '../../domain/catalog/inputs.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Failed } from '../../ports/provider.ts'
import { callWithin } from '../../time/timers.ts'

/**
 * The time limit for submitting, polling or cancelling a job: several times as long as working providers take,
 * but short enough to notice a call that hangs well within a run's time limit.
 */
export const CALL_TIMEOUT_MS = 30_000

/** Calls a provider. Rejects after the time limit, or when `stop` aborts. */
export const callProvider = <Answer>(
  clock: Clock,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Answer>,
  stop?: AbortSignal,
): Promise<Answer> => {
  const tooLate = () => {
    throw new Error(`no answer within ${timeoutMs} ms`)
  }
  return callWithin(clock, timeoutMs, call, tooLate, stop)
}

// Failures that the provider did not report itself.

export const broken: Failed = {
  kind: 'failed',
  code: 'provider_error',
  message: 'The provider did not respond.',
  retryable: true,
}

/** For a provider that does not finish an answer of which a part has been handed over. */
export const brokenOff: Failed = {
  kind: 'failed',
  code: 'provider_error',
  message: 'The provider broke off its answer.',
}

/** For a run that no provider takes at the moment. */
export const unavailable = (endpoint: string): Failed => ({
  kind: 'failed',
  code: 'provider_error',
  message: `No provider takes runs of ${endpoint} at the moment.`,
  retryable: true,
})

/** For a job that a provider may or may not have accepted. To submit it again could be paid for twice. */
export const inDoubt: Failed = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The connection to the provider was lost before it confirmed the run.',
}

export const cancelled: Failed = { kind: 'failed', code: 'cancelled', message: 'The run was cancelled.' }

export const stopped: Failed = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The service stopped before the run was done.',
}

export const inputLost: Failed = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The input could not be stored. Try again.',
}

export const lost: Failed = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The service stopped while it worked on this run.',
}

/** For a run whose source was not loaded at its time limit. The customer chose the source. */
export const sourceTooLate = (parameter: FilePlace, timeoutMs: number): Failed => ({
  kind: 'failed',
  code: 'invalid_input',
  message: `${parameter}: The file did not load within ${timeoutMs / 1000} s.`,
})

export const timedOut = (timeoutMs: number): Failed => ({
  kind: 'failed',
  code: 'provider_timeout',
  message: `The provider returned no result within ${timeoutMs / 1000} s.`,
})
