import { putLoad } from './support/load.ts'
import type { OpenLoad, OpenLoadResult } from './support/open-load-process.ts'
import { startProcess } from './support/processes.ts'
import { startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

export interface Latency extends OpenLoadResult {
  maxPerSecond: number
  perSecond: number
}

const SECONDS = Number(process.env['BENCH_LATENCY_SECONDS'] ?? 30)
const PART_OF_MAXIMUM = 0.7
const MAX_P99_TO_P50 = 5

/**
 * Measures how long sync runs take while new ones are requested at 70 % of the most that the service can do, whether
 * earlier ones have been answered or not.
 */
export const measureLatency = async (): Promise<Latency> => {
  const tollgate = await startTollgate({ accounts: 50, profile: 'latency' })
  const load = runLoad(tollgate)
  let maxPerSecond = 0
  // The first round warms up.
  for (let round = 0; round < 3; round++) maxPerSecond = Math.max(maxPerSecond, (await putLoad(load)).value)
  const perSecond = PART_OF_MAXIMUM * maxPerSecond
  const { url, keys = [], body } = load
  const openLoad: OpenLoad = { url, keys, body: body as object, perSecond, seconds: SECONDS }
  const { ready } = await startProcess<OpenLoadResult>('open-load-process.js', { args: [JSON.stringify(openLoad)] })
  await tollgate.stop()
  return { maxPerSecond, perSecond, ...ready }
}

export const showLatency = ({ maxPerSecond, perSecond, requests, lateMs, ...latency }: Latency) => {
  const { p50Ms, p99Ms, p999Ms } = latency
  const ms = (number: number) => `${number.toFixed(1)} ms`
  const ratio = p99Ms / p50Ms
  const verdict = ratio <= MAX_P99_TO_P50 ? 'reached' : 'MISSED'
  console.log(
    `latency: ${requests.toLocaleString('en')} sync runs, requested at ${Math.round(perSecond)} /s, ` +
      `which is ${PART_OF_MAXIMUM} of the maximum of ${Math.round(maxPerSecond)} /s`,
  )
  console.log(`  p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}, p99.9 ${ms(p999Ms)} since each was to be sent`)
  console.log(`  p99 ÷ p50 ${ratio.toFixed(1)}, goal at most ${MAX_P99_TO_P50}, ${verdict}`)
  console.log(`  the load generator sent late by ${ms(lateMs.p50)} at p50, ${ms(lateMs.p99)} at p99\n`)
}
