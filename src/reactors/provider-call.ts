/**
 * How long a provider may take to answer that a job is taken, how far it is, or that it is given up: several times what those that
 * work take, and short enough that one that hangs is noticed well within a run's time.
 */
export const CALL_TIMEOUT_MS = 30_000

/**
 * Calls a provider. Rejects when the answer takes too long, or is no longer waited for, whether the provider looks at its signal or
 * not.
 */
export const callWithin = async <Answer>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Answer>,
  stop?: AbortSignal,
): Promise<Answer> => {
  stop?.throwIfAborted()
  const abort = new AbortController()
  let giveUp: (error: Error) => void = () => undefined
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = error => {
      abort.abort(error)
      reject(error)
    }
  })
  const onStop = () => giveUp(new Error('the answer is no longer waited for'))
  const timer = setTimeout(() => giveUp(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  stop?.addEventListener('abort', onStop)
  try {
    return await Promise.race([call(abort.signal), givenUp])
  } finally {
    clearTimeout(timer)
    stop?.removeEventListener('abort', onStop)
  }
}
