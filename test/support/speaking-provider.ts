import type { Job, Provider, ProviderOutcome } from '../../src/ports/provider.ts'
import { until } from './until.ts'

/** A call of the provider: the test says what arrives, and how it ends. */
export interface Call {
  job: Job
  signal: AbortSignal
  say(text: string): void
  end(outcome: ProviderOutcome): void
}

/** A provider whose text models say what the test says. */
export const speakingProvider = () => {
  const calls: Call[] = []
  const provider: Provider = {
    submit: (job, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        calls.push({ job, signal, say: text => job.onText?.(text), end: resolve })
      }),
  }
  const nextCall = async (): Promise<Call> => {
    await until('the provider is asked', () => calls.length > 0)
    return calls.shift() as Call
  }
  return { provider, nextCall, calls }
}

export const said = (text: string): ProviderOutcome => ({ kind: 'done', media: [], text })
