import { addedLatencyOf, portkey, type Side, startPortkey } from './gateway.ts'
import type { Benchmark, Measurement } from './support/compare.ts'
import { cpuMsOf, measureCpu } from './support/cpu.ts'
import { SECONDS } from './support/load.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { startTollgate } from './support/servers.ts'
import { MAX_DELAY_MS, readStreams, type StreamLoad, type StreamResult, TOKEN_END } from './support/stream-load.ts'
import type { Pace } from './support/streaming-stub.ts'

/** A server of chats, whose prompt says what the vendor sends. */
interface ChatServer extends Pick<StreamLoad, 'url' | 'headers' | 'keys'> {
  pid: number
  model: string
  stop(): Promise<void>
}

const headers = { 'content-type': 'application/json' }

/** Enough that no account reaches a limit. */
const ACCOUNTS = 16
const PROVIDER_CONCURRENCY = '2000'

const startVendor = async (): Promise<ChatServer> => {
  const { child, ready } = await startProcess<{ url: string }>('streaming-stub.js')
  return {
    url: `${ready.url}/chat/completions`,
    ...{ headers, keys: ['sk-bench'], model: 'gpt-6.1-terra', pid: child.pid as number },
    stop: () => stopProcess(child),
  }
}

const startOurs = async (vendor: ChatServer): Promise<ChatServer> => {
  const { url, ...server } = await startTollgate({
    accounts: ACCOUNTS,
    provider: 'configured',
    env: {
      ...{ OPENAI_API_KEY: 'sk-bench', OPENAI_BASE_URL: vendor.url.replace('/chat/completions', '') },
      PROVIDER_CONCURRENCY,
    },
    profile: 'streams',
  })
  return { ...server, url: `${url}/v1/chat/completions`, headers, model: 'gpt-6-1-terra' }
}

const chat = ({ model }: ChatServer, pace: Pace) => ({
  ...{ model, messages: [{ role: 'user', content: JSON.stringify(pace) }] },
  ...{ stream: true, stream_options: { include_usage: true } },
})

const read = (
  { url, headers, keys, ...server }: ChatServer,
  pace: Pace,
  load: Pick<StreamLoad, 'streams' | 'overMs'>,
) =>
  readStreams({
    ...{ url, headers, keys, body: chat(server as ChatServer, pace), tokens: pace.tokens },
    ...{ stamped: pace.everyMs > 0, ...load },
  })

const AT_ONCE = 100
const FAST: Pace = { tokens: 500 * SECONDS, everyMs: 0 }

/** Resolves to tokens per second, and tells the part of a core that the clients took. */
const rateOf = (server: ChatServer, onClients: (cpuShare: number) => void): Promise<Measurement> =>
  measureCpu([server.pid], async () => {
    const operations = AT_ONCE * FAST.tokens
    const { seconds, cpuShare } = await read(server, FAST, { streams: AT_ONCE })
    onClients(cpuShare)
    return { operations, value: operations / seconds }
  })

/** A stream whose first token is sent at once. */
const SHORT: Pace = { tokens: 10, everyMs: 0 }

const asSide = (server: ChatServer): Side => ({
  ...{ pid: server.pid, url: server.url, body: chat(server, SHORT), until: TOKEN_END, stop: server.stop },
  headers: { ...headers, authorization: `Bearer ${server.keys[0]}` },
})

const addedToFirstToken =
  (...args: 'no-wait'[]): Benchmark['prepare'] =>
  async () => {
    const vendor = await startVendor()
    const ours = await startOurs(vendor)
    const provider = asSide(vendor)
    const baseline = await startPortkey(provider, ...args)
    return {
      baseline: () => addedLatencyOf(baseline, provider),
      measured: () => addedLatencyOf(asSide(ours), provider),
      close: async () => {
        for (const server of [ours, baseline, vendor]) await server.stop()
      },
    }
  }

const percent = (share: number) => `${Math.round(share * 100)} %`

const firstToken = {
  question: 'what a streamed run adds to the median time to the first token, on one connection',
  missing: portkey.missing,
  unit: 'µs',
}

export const streams: Benchmark[] = [
  {
    name: 'streams',
    question: `tokens of ${AT_ONCE} streams at once, by OpenAI’s adapter`,
    baseline: 'straight from the vendor, which sends as fast as it is read; the CPU is that of the vendor',
    unit: 'tokens/s',
    goal: { atLeast: 0.7 },
    prepare: async () => {
      const vendor = await startVendor()
      const ours = await startOurs(vendor)
      const cpuShares: number[] = []
      const rate = (server: ChatServer) => rateOf(server, share => cpuShares.push(share))
      return {
        baseline: () => rate(vendor),
        measured: () => rate(ours),
        close: async () => {
          console.error(`streams: the clients took up to ${percent(Math.max(...cpuShares))} of a core`)
          for (const server of [ours, vendor]) await server.stop()
        },
      }
    },
  },
  {
    name: 'streams-latency',
    ...firstToken,
    baseline: '@portkey-ai/gateway, which proxies the same call to the same server, and first waits for 25 ms',
    goal: { atMost: 1.5 },
    prepare: addedToFirstToken(),
  },
  {
    name: 'streams-latency-no-wait',
    ...firstToken,
    baseline: '@portkey-ai/gateway without its wait of 25 ms',
    prepare: addedToFirstToken('no-wait'),
  },
]

/** Streams whose vendor sends a token at equal intervals, straight and through the service. */
export interface PacedStreams {
  straight: PacedResult[]
  through: PacedResult[]
}

interface PacedResult extends StreamResult {
  /** The parts of a core that the vendor and the service took. */
  vendorShare: number
  ownShare: number
  /** The CPU of the service for each token. */
  cpuMicros: number
}

const STREAMS = 512
const SLOW: Pace = { tokens: 200 * SECONDS, everyMs: 20 }
/** Runs begin and end while others are streamed, but not all at once. */
const OVER_MS = 2_500 * SECONDS
const ROUNDS = 3

export const measurePacedStreams = async (): Promise<PacedStreams> => {
  const vendor = await startVendor()
  const ours = await startOurs(vendor)
  const measure = async (server: ChatServer, load = { streams: STREAMS, overMs: OVER_MS }): Promise<PacedResult> => {
    const pids = [vendor.pid, ours.pid]
    const before = pids.map(cpuMsOf)
    const result = await read(server, SLOW, load)
    const [vendorMs = 0, ownMs = 0] = pids.map((pid, index) => cpuMsOf(pid) - (before[index] as number))
    return {
      ...result,
      vendorShare: vendorMs / 1000 / result.seconds,
      ownShare: ownMs / 1000 / result.seconds,
      cpuMicros: (ownMs * 1000) / (load.streams * SLOW.tokens),
    }
  }
  // Warms up.
  await measure(ours, { streams: STREAMS / 4, overMs: 0 })
  const seen: PacedStreams = { straight: [], through: [] }
  for (let round = 0; round < ROUNDS; round++) {
    seen.straight.push(await measure(vendor))
    seen.through.push(await measure(ours))
  }
  for (const server of [ours, vendor]) await server.stop()
  return seen
}

export const showPacedStreams = ({ straight, through }: PacedStreams) => {
  console.log(`streams-pace: ${STREAMS} streams with a token every ${SLOW.everyMs} ms`)
  const line = ({ late, delayMs: { p50, p99, max }, cpuShare, vendorShare, ownShare, cpuMicros }: PacedResult) =>
    `${late} streams with a token later than ${MAX_DELAY_MS} ms; p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, ` +
    `max ${max.toFixed(1)} ms; of a core: clients ${percent(cpuShare)}, vendor ${percent(vendorShare)}, ` +
    `service ${percent(ownShare)}, ${cpuMicros.toFixed(1)} µs for each token`
  for (const result of straight) console.log(`  straight: ${line(result)}`)
  for (const result of through) console.log(`  through the service: ${line(result)}`)
  const late = through.map(each => each.late).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number
  console.log(`  median of ${ROUNDS} rounds ${late}, goal 0, ${late === 0 ? 'reached' : 'MISSED'}\n`)
}
