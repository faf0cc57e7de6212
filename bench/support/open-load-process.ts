import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** A load whose requests are sent at their times, whether earlier ones have been answered or not. */
export interface OpenLoad {
  url: string
  /** Used in turn. */
  keys: string[]
  body: object
  perSecond: number
  seconds: number
}

export interface OpenLoadResult {
  requests: number
  /** From the time at which a request was to be sent to its answer, so that no wait is left out. */
  p50Ms: number
  p99Ms: number
  p999Ms: number
  /** How long after that time requests were sent. */
  lateMs: { p50: number; p99: number }
}

/** More than a server that keeps up ever needs. */
const CONNECTIONS = 256

const { url, keys, body, perSecond, seconds } = JSON.parse(process.argv[2] as string) as OpenLoad
const dispatcher = new Agent({ connections: CONNECTIONS })
const text = JSON.stringify(body)
const [latencies, delays] = [createHistogram(), createHistogram()]

const record = (histogram: RecordableHistogram, sinceMs: number) =>
  histogram.record(Math.max(1, Math.round((performance.now() - sinceMs) * 1000)))

const send = async (index: number, dueMs: number) => {
  record(delays, dueMs)
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${keys[index % keys.length]}` }
  const answer = await request(url, { dispatcher, method: 'POST', headers, body: text })
  await answer.body.dump()
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
  record(latencies, dueMs)
}

const requests = Math.floor(perSecond * seconds)
const sent: Promise<void>[] = []
const startMs = performance.now()
const dueMs = (index: number) => startMs + (index * 1000) / perSecond
while (sent.length < requests) {
  while (sent.length < requests && dueMs(sent.length) <= performance.now())
    sent.push(send(sent.length, dueMs(sent.length)))
  await delay(1)
}
await Promise.all(sent)

const ms = (histogram: RecordableHistogram, percentile: number) => histogram.percentile(percentile) / 1000
const result: OpenLoadResult = {
  requests,
  ...{ p50Ms: ms(latencies, 50), p99Ms: ms(latencies, 99), p999Ms: ms(latencies, 99.9) },
  lateMs: { p50: ms(delays, 50), p99: ms(delays, 99) },
}
process.send?.(result, () => process.exit(0))
