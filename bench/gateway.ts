import { isInstalled } from '../test/support/outside.ts'
import type { Benchmark } from './support/compare.ts'
import type { RepeatedRequest } from './support/latency-process.ts'
import { putMeasuredLoad } from './support/load.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { startTollgate } from './support/servers.ts'

const SECONDS = 4

/** What a client sends to have a model answer, and the process that handles it. */
interface Side extends RepeatedRequest {
  pid: number
}

/** The same question to the same model, through both gateways and directly. */
const startSides = async () => {
  if (!isInstalled('portkey'))
    throw new Error('@portkey-ai/gateway is missing. Run this first: npm ci --ignore-scripts --prefix test/outside')
  const stub = await startProcess<{ url: string }>('openai-stub.js')
  const portkey = await startProcess<{ url: string }>('portkey-process.js')
  const tollgate = await startTollgate({
    provider: 'configured',
    env: { OPENAI_API_KEY: 'sk-bench', OPENAI_BASE_URL: stub.ready.url },
    profile: 'gateway',
  })
  const json = { 'content-type': 'application/json' }
  const prompt = 'a lighthouse at dusk'
  const chat = {
    headers: { ...json, authorization: 'Bearer sk-bench' },
    body: { model: 'gpt-6.1-terra', messages: [{ role: 'user', content: prompt }] },
  }
  const pidOf = (child: { pid?: number | undefined }) => child.pid as number
  return {
    direct: { ...chat, pid: pidOf(stub.child), url: `${stub.ready.url}/chat/completions` },
    theirs: {
      ...chat,
      pid: pidOf(portkey.child),
      url: `${portkey.ready.url}/v1/chat/completions`,
      headers: { ...chat.headers, 'x-portkey-provider': 'openai', 'x-portkey-custom-host': stub.ready.url },
    },
    ours: {
      pid: tollgate.pid,
      url: `${tollgate.url}/v1/run`,
      headers: { ...json, authorization: `Bearer ${tollgate.keys[0]}` },
      body: { model: 'gpt-6-1-terra', input: { prompt } },
    },
    close: async () => {
      await tollgate.stop()
      await stopProcess(portkey.child)
      await stopProcess(stub.child)
    },
  }
}

/** Requests per second over 50 connections, and the CPU time of the gateway for each. */
const rateOf = ({ pid, ...request }: Side) =>
  putMeasuredLoad({ ...request, method: 'POST', connections: 50, seconds: SECONDS }, pid)

const latencyOf = async ({ pid, ...request }: Side): Promise<number> => {
  const { ready } = await startProcess<{ medianMicros: number }>('latency-process.js', {
    args: [JSON.stringify(request)],
  })
  return ready.medianMicros
}

const BASELINE = '@portkey-ai/gateway, which proxies the same call to the same server'

export const gateway: Benchmark[] = [
  {
    name: 'gateway',
    question: 'sync runs, 50 connections, by OpenAI’s client at a server that answers at once',
    baseline: BASELINE,
    unit: 'runs/s',
    goal: { atLeast: 1.5 },
    prepare: async () => {
      const { ours, theirs, close } = await startSides()
      return { baseline: () => rateOf(theirs), measured: () => rateOf(ours), close }
    },
  },
  {
    name: 'gateway-latency',
    question: 'what a sync run adds to the median time of an answer, on one connection',
    baseline: BASELINE,
    unit: 'µs',
    prepare: async () => {
      const { direct, ours, theirs, close } = await startSides()
      const added = async (side: Side) => (await latencyOf(side)) - (await latencyOf(direct))
      return { baseline: () => added(theirs), measured: () => added(ours), close }
    },
  },
]
