import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { withFolder } from './support/folder.ts'
import { startHangingHosts } from './support/hanging-hosts.ts'
import { startProcess, stopProcess } from './support/processes.ts'

/** How long one account waits, alone and while another floods the service: the 95th percentile in milliseconds. */
export interface Fairness {
  flood: string
  measured: string
  aloneMs: number
  floodedMs: number
  ratio: number
}

const MAX_RATIO = 3

const SAMPLES = 100

/** How long a flood runs before the other account is measured. */
const LEAD_MS = 2_000

/** Requests a run, waits for its end for a time, and resolves to its id. */
type Send = (body: object) => Promise<string>

const text = { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }
const slowRun = { model: 'sandbox', input: { prompt: 'hello', delay_ms: 20_000 } }

/** Measures how much one account's flood delays another. */
export const measureFairness = async (): Promise<Fairness[]> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string; keys: string[] }>('tollgate-server.js', {
    args: ['2', 'sandbox'],
    env: { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent', ALLOW_PRIVATE_WEBHOOKS: 'true' },
  })
  const dispatcher = new Agent()
  const sender =
    (key: string | undefined, waitSeconds: number): Send =>
    async body => {
      const answer = await request(`${ready.url}/v1/run`, {
        ...{ dispatcher, method: 'POST', body: JSON.stringify(body) },
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          prefer: `wait=${waitSeconds}`,
        },
      })
      const run = (await answer.body.json()) as { run_id: string }
      if (answer.statusCode >= 300) throw new Error(`${answer.statusCode}: ${JSON.stringify(run)}`)
      return run.run_id
    }
  const flooder = sender(ready.keys[0], 1)
  const other = sender(ready.keys[1], 120)
  const hanging = await startHangingHosts()
  const receiver = await startReceiver()

  const runTime = async () => {
    const startMs = performance.now()
    await other(text)
    return performance.now() - startMs
  }
  const deliveryTime = async () => receiver.delayOf(await other({ ...text, webhook_url: receiver.url }))
  const floods = [
    {
      flood: '400 runs whose image_url hangs',
      measured: 'a text run',
      sample: runTime,
      request: (index: number) => ({
        model: 'nano-banana-2',
        input: { prompt: 'a lake', image_url: hanging.urlOf(index) },
      }),
      count: 400,
    },
    {
      flood: '400 runs of 20 s',
      measured: 'a text run',
      sample: runTime,
      request: () => slowRun,
      count: 400,
    },
    {
      flood: '2,000 webhooks to 20 hosts that hang',
      measured: 'a webhook',
      sample: deliveryTime,
      request: (index: number) => ({ ...text, webhook_url: hanging.urlOf(index) }),
      count: 2_000,
    },
  ]
  const results: Fairness[] = []
  for (const { flood, measured, sample, request, count } of floods) {
    const aloneMs = await percentile95(sample)
    const flooding = inParallel(count, index => flooder(request(index)))
    await delay(LEAD_MS)
    const floodedMs = await percentile95(sample)
    await flooding
    results.push({ flood, measured, aloneMs, floodedMs, ratio: floodedMs / aloneMs })
  }
  await dispatcher.close()
  for (const server of [hanging, receiver]) await server.stop()
  await stopProcess(child)
  await discard()
  return results
}

export const showFairness = (results: Fairness[]) => {
  console.log('fairness: the wait of one account, alone and while another floods the service, 95th percentile')
  for (const { flood, measured, aloneMs, floodedMs, ratio } of results) {
    const verdict = ratio <= MAX_RATIO ? 'reached' : 'MISSED'
    console.log(`  ${measured}: ${aloneMs.toFixed(1)} ms alone, ${floodedMs.toFixed(1)} ms beside ${flood}`)
    console.log(`    ratio ${ratio.toFixed(2)}, goal at most ${MAX_RATIO}, ${verdict}`)
  }
}

const percentile95 = async (sample: () => Promise<number>): Promise<number> => {
  const times: number[] = []
  while (times.length < SAMPLES) times.push(await sample())
  return times.sort((a, b) => a - b)[Math.floor(SAMPLES * 0.95)] as number
}

/** Sends all requests, 50 at a time. */
const inParallel = async (count: number, send: (index: number) => Promise<unknown>): Promise<void> => {
  let sent = 0
  const sendAll = async () => {
    while (sent < count) await send(sent++)
  }
  await Promise.all(Array.from({ length: 50 }, sendAll))
}

/** A receiver of webhooks that tells how long they took after the end of their runs. */
const startReceiver = async () => {
  const waiting = new Map<string, (arrivedMs: number) => void>()
  const arrived = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.writeHead(204).end()
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { run_id: string } }
    arrived.set(data.run_id, performance.now())
    waiting.get(data.run_id)?.(performance.now())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
    /** Milliseconds from now until the webhook of a run that has just ended arrives; 0 if it has. */
    delayOf: async (runId: string) => {
      const startMs = performance.now()
      const atMs = arrived.get(runId) ?? (await new Promise<number>(resolve => waiting.set(runId, resolve)))
      return Math.max(0, atMs - startMs)
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
