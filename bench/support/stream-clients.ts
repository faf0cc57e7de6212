import { createHistogram } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { sharedMicros } from './shared-clock.ts'
import { MAX_DELAY_MS, type StreamLoad, type StreamResult, TOKEN_END } from './stream-load.ts'

const STAMP_LENGTH = 12
const END = TOKEN_END.charCodeAt(0)

/** The clients of streams. Searches the bytes for tokens, which takes less time than parsing them. */
const load = JSON.parse(process.argv[2] as string) as StreamLoad
const dispatcher = new Agent({ connections: null, headersTimeout: 0, bodyTimeout: 0 })
const { origin, pathname: path } = new URL(load.url)
const body = JSON.stringify(load.body)
const delays = createHistogram()
let late = 0

class Reading implements Dispatcher.DispatchHandler {
  readonly #settle: (error?: Error) => void
  #status = 0
  #tokens = 0
  #isLate = false
  #last = Buffer.alloc(0)

  constructor(settle: (error?: Error) => void) {
    this.#settle = settle
  }

  onRequestStart() {}

  onResponseStart(_: unknown, status: number) {
    this.#status = status
  }

  onResponseData(_: unknown, bytes: Buffer) {
    this.#last = bytes as Buffer<ArrayBuffer>
    for (let at = bytes.indexOf(END); at >= 0; at = bytes.indexOf(END, at + 1)) {
      this.#tokens++
      if (load.stamped) this.#measure(bytes.toString('latin1', at - STAMP_LENGTH, at))
    }
  }

  onResponseEnd() {
    const isWhole = this.#status === 200 && this.#tokens === load.tokens
    if (this.#isLate) late++
    this.#settle(isWhole ? undefined : new Error(`${this.#status}, ${this.#tokens} tokens: ${this.#last}`))
  }

  onResponseError(_: unknown, error: Error) {
    this.#settle(error)
  }

  /** Two reads may share a stamp, which then counts as no time. */
  #measure(stamp: string) {
    const micros = Math.max(1, sharedMicros() - Number(stamp))
    // Its start may have come with the bytes before.
    if (stamp.length < STAMP_LENGTH) return
    delays.record(micros)
    this.#isLate ||= micros > MAX_DELAY_MS * 1000
  }
}

const read = (index: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const authorization = `Bearer ${load.keys[index % load.keys.length]}`
    const headers = { ...load.headers, authorization }
    const reading = new Reading(error => (error ? reject(error) : resolve()))
    dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, reading)
  })

const startMs = performance.now()
const usage = process.cpuUsage()
const begin = async (index: number) => {
  await delay(((load.overMs ?? 0) * index) / load.streams)
  return read(index)
}
await Promise.all(Array.from({ length: load.streams }, (_, index) => begin(index)))
const seconds = (performance.now() - startMs) / 1000
const { user, system } = process.cpuUsage(usage)
const ms = (percentile: number) => delays.percentile(percentile) / 1000
const result: StreamResult = {
  seconds,
  delayMs: { p50: ms(50), p99: ms(99), max: load.stamped ? delays.max / 1000 : 0 },
  late,
  cpuShare: (user + system) / 1e6 / seconds,
}
process.send?.(result, () => process.exit(0))
