import { isInstalled } from '../test/support/outside.ts'
import type { Benchmark, Measurement } from './support/compare.ts'
import { measureCpu } from './support/cpu.ts'
import { withFolder } from './support/folder.ts'
import type { RepeatedRequest } from './support/latency-process.ts'
import { putLoad, SECONDS } from './support/load.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { startTollgate } from './support/servers.ts'

/** What a client sends to have a model answer, and the process that handles it. */
export interface Side extends RepeatedRequest {
  pid: number
  stop(): Promise<void>
}

const PROMPT = 'a lighthouse at dusk'
const json = { 'content-type': 'application/json' }

/** The provider, which answers at once. */
const startProvider = async (): Promise<Side> => {
  const { child, ready } = await startProcess<{ url: string }>('openai-stub.js')
  return {
    pid: child.pid as number,
    url: `${ready.url}/chat/completions`,
    headers: { ...json, authorization: 'Bearer sk-bench' },
    body: { model: 'gpt-6.1-terra', messages: [{ role: 'user', content: PROMPT }] },
    stop: () => stopProcess(child),
  }
}

/** Starts a gateway to a provider. */
type Start = (provider: Side) => Promise<Side>

const baseUrlOf = ({ url }: Side) => url.replace('/chat/completions', '')

/** `no-wait` leaves out how long Portkey waits before each stream. */
export const startPortkey = async (provider: Side, ...args: 'no-wait'[]): Promise<Side> => {
  const { child, ready } = await startProcess<{ url: string }>('portkey-process.js', { args })
  return {
    ...provider,
    pid: child.pid as number,
    url: `${ready.url}/v1/chat/completions`,
    headers: { ...provider.headers, 'x-portkey-provider': 'openai', 'x-portkey-custom-host': baseUrlOf(provider) },
    stop: () => stopProcess(child),
  }
}

const asRun = ({ url, keys }: { url: string; keys: string[] }): RepeatedRequest => ({
  url: `${url}/v1/run`,
  headers: { ...json, authorization: `Bearer ${keys[0]}` },
  body: { model: 'gpt-6-1-terra', input: { prompt: PROMPT } },
})

const startOurs: Start = async provider => {
  const server = await startTollgate({
    provider: 'configured',
    env: { OPENAI_API_KEY: 'sk-bench', OPENAI_BASE_URL: baseUrlOf(provider) },
    profile: 'gateway',
  })
  return { ...asRun(server), pid: server.pid, stop: server.stop }
}

const startFloor: Start = async provider => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string; keys: string[] }>('floor-server.js', {
    args: [folder, baseUrlOf(provider)],
    ...(process.env['BENCH_PROFILE'] && { profile: 'floor' }),
  })
  const stop = async () => {
    await stopProcess(child)
    await discard()
  }
  return { ...asRun(ready), pid: child.pid as number, stop }
}

/** Runs per second over 50 connections, and the CPU time of the gateway for each. */
const rateOf = ({ stop, ...request }: Side) => putLoad({ ...request, method: 'POST', connections: 50 })

/** The median time to an answer on one connection, in microseconds. */
const latencyOf = ({ pid, stop, ...request }: Side): Promise<Measurement> =>
  measureCpu([pid], async () => {
    const { ready } = await startProcess<{ medianMicros: number; sent: number }>('latency-process.js', {
      args: [JSON.stringify({ ...request, requests: 250 * SECONDS })],
    })
    return { operations: ready.sent, value: ready.medianMicros }
  })

/** What a gateway adds to the provider's latency. */
export const addedLatencyOf = async (side: Side, provider: Side): Promise<Measurement> => {
  const through = await latencyOf(side)
  return { ...through, value: through.value - (await latencyOf(provider)).value }
}

const against =
  (startBaseline: Start, measure: (side: Side, provider: Side) => Promise<Measurement>): Benchmark['prepare'] =>
  async () => {
    const provider = await startProvider()
    const baseline = await startBaseline(provider)
    const ours = await startOurs(provider)
    return {
      baseline: () => measure(baseline, provider),
      measured: () => measure(ours, provider),
      close: async () => {
        for (const side of [ours, baseline, provider]) await side.stop()
      },
    }
  }

export const portkey = {
  baseline: '@portkey-ai/gateway, which proxies the same call to the same server',
  missing: () =>
    isInstalled('portkey') ? undefined : 'Portkey is not installed: npm ci --ignore-scripts --prefix test/outside',
}

/** The goals on Node.js 20 are higher, because Portkey's gateway is slower there. */
const on = (major: { '20': number; '24': number }) =>
  major[Number.parseInt(process.versions.node, 10) < 24 ? '20' : '24']

export const gateway: Benchmark[] = [
  {
    name: 'gateway',
    question: 'sync runs, 50 connections, by OpenAI’s adapter at a server that answers at once',
    ...portkey,
    unit: 'runs/s',
    goal: { atLeast: on({ '20': 2, '24': 1.3 }) },
    cpuGoal: { atMost: on({ '20': 0.5, '24': 0.75 }) },
    prepare: against(startPortkey, rateOf),
  },
  {
    name: 'gateway-latency',
    question: 'what a sync run adds to the median time of an answer, on one connection',
    ...portkey,
    unit: 'µs',
    goal: { atMost: on({ '20': 2.4, '24': 2.7 }) },
    prepare: against(startPortkey, addedLatencyOf),
  },
  {
    name: 'floor',
    question: 'sync runs, 50 connections, by OpenAI’s adapter at a server that answers at once',
    baseline: 'the smallest server that keeps the guarantees',
    unit: 'runs/s',
    cpuGoal: { atMost: 1.4 },
    prepare: against(startFloor, rateOf),
  },
]
