import { withinTime } from '../engine/time-limit.ts'

/**
 * The time limit for submitting, polling or cancelling a job: several times what working providers take, yet a hanging
 * one is noticed well within a run's time limit.
 */
export const CALL_TIMEOUT_MS = 30_000

/** Calls a provider. Rejects after the time limit, or when `stop` aborts, even if the provider ignores its signal. */
export const callWithin = async <Answer>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Answer>,
  stop?: AbortSignal,
): Promise<Answer> => {
  stop?.throwIfAborted()
  const abort = new AbortController()
  try {
    return await withinTime(call(abort.signal), timeoutMs, () => noAnswer(timeoutMs), stop)
  } catch (error) {
    abort.abort(error)
    throw error
  }
}

const noAnswer = (timeoutMs: number): never => {
  throw new Error(`no answer within ${timeoutMs} ms`)
}
