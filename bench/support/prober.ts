import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { startProcess } from './processes.ts'

/** Starts a process that requests an address again and again, on one connection or on a new one each time. */
export const startProber = async (url: string, { reusesConnections = true } = {}): Promise<ChildProcess> => {
  const { child } = await startProcess('prober-process.js', { args: [url, String(reusesConnections)] })
  return child
}

/** The longest response to the prober since the last call, in milliseconds. */
export const longestResponse = async (prober: ChildProcess): Promise<number> => {
  const answer = once(prober, 'message')
  prober.send('report')
  const [ms] = await answer
  return ms as number
}
