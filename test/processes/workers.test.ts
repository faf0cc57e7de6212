import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { type Client, sandbox } from '../support/client.ts'
import { needsPrograms } from '../support/needs.ts'
import { operatorOf } from '../support/operator.ts'
import { openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

t.setTimeout(300_000)

/** The lines of workers that listen. */
const listening = (count: number) => new RegExp(Array(count).fill('"pid":(\\d+),"msg":"listening"').join('.*?'), 's')

/** Starts a service of two workers with an account of 1000 credits. Resolves once both listen. */
const start = async (t: Test, environment: Record<string, string> = {}) => {
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, { credits: 1000, tester: true })
  const service = await startServiceProcess(t, folder, { WORKERS: '2', ...environment })
  const [, first, second] = await service.until(listening(2))
  const client = customer.at(service.url)
  return { folder, service, first: Number(first), second: Number(second), send: apart(client) }
}

/** Sends each request over a connection of its own, which either worker may take. */
const apart =
  (client: Client) =>
  async <Body>(path: string, body?: object, headers: Record<string, string> = {}) => {
    const request = body && { method: 'POST', body: JSON.stringify(body) }
    const type = body && { 'Content-Type': 'application/json' }
    const answer = await client.sendRaw(path, { ...request, headers: { Connection: 'close', ...type, ...headers } })
    return { status: answer.status, body: JSON.parse(answer.text) as Body }
  }

type Sender = ReturnType<typeof apart>

const balance = async (send: Sender) => (await send<{ credits_balance: number }>('/v1/balance')).body.credits_balance

t.test('a read shows what the other worker has written, and each has metrics', async t => {
  const { service, send } = await start(t, { METRICS_PORT: '0' })
  for (let spent = 1; spent <= 30; spent++) {
    const { body } = await send<{ run_id: string }>('/v1/run', sandbox())
    t.equal(await balance(send), 1000 - spent)
    const reads = await Promise.all(Array.from({ length: 6 }, () => send(`/v1/runs/${body.run_id}`)))
    for (const read of reads) t.match(read, { status: 200, body: { status: 'completed' } })
  }
  const [, first, second] = await service.until(/"metricsPort":(\d+).*"metricsPort":(\d+)/s)
  for (const port of [first, second])
    t.match(
      await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
      /^tollgate_log_append_duration_seconds_count [1-9]/m,
    )
})

t.test('the limits of a key count over both workers', async t => {
  const { send } = await start(t, { REQUESTS_PER_MINUTE_PER_KEY: '25', RUNS_IN_FLIGHT_PER_KEY: '4' })
  const held = await Promise.all(
    Array.from({ length: 12 }, () => send('/v1/run', sandbox({ delay_ms: 60_000 }), { Prefer: 'wait=0' })),
  )
  const countOf = (answers: { status: number }[], wanted: number) =>
    answers.filter(({ status }) => status === wanted).length
  t.equal(countOf(held, 202), 4)
  t.equal(countOf(held, 429), 8)
  const reads = await Promise.all(Array.from({ length: 20 }, () => send('/v1/balance')))
  t.equal(countOf(reads, 200), 13)
  t.equal(countOf(reads, 429), 7)
})

t.test('a worker that is killed is replaced, and nothing acknowledged is lost', async t => {
  const { service, first, second, send } = await start(t)
  let spent = 0
  for (const [index, pid] of [second, first].entries()) {
    // Both are asked while one is killed.
    const runs = Array.from({ length: 40 }, () => send('/v1/run', sandbox()).catch(() => ({ status: 0 })))
    process.kill(pid, 'SIGKILL')
    const answered = (await Promise.all(runs)).filter(({ status }) => status === 200).length
    await service.until(listening(3 + index))
    // A run that was cut off has ended with or without its charge.
    await until('every accepted run has ended', async () => {
      const { body } = await send<{ data: object[] }>('/v1/runs?status=processing')
      return body.data.length === 0
    })
    const left = await balance(send)
    t.ok(1000 - left >= spent + answered, `${answered} were answered`)
    spent = 1000 - left
    t.equal(await balance(send), left)
  }
  const { code, stdout } = await service.end('SIGTERM')
  t.equal(code, 0)
  t.match(stdout, /"msg":"a worker has ended; starting another"/)
  for (const [, pid] of stdout.matchAll(new RegExp(listening(1), 'g')))
    t.throws(() => process.kill(Number(pid), 0), { code: 'ESRCH' }, 'no worker is left')
})

t.test('a worker that is killed while it starts is replaced too', needsPrograms('pgrep'), async t => {
  const { service, second, send } = await start(t)
  process.kill(second, 'SIGKILL')
  const workers = async () =>
    (await promisify(execFile)('pgrep', ['-P', String(service.pid)])).stdout.trim().split('\n')
  await until('it is gone', async () => (await workers()).length === 1)
  await until('another starts', async () => (await workers()).length === 2)
  const newest = Math.max(...(await workers()).map(Number))
  process.kill(newest, 'SIGKILL')
  await service.until(listening(3))
  t.equal((await send('/v1/balance')).status, 200)
  t.equal((await service.end('SIGTERM')).code, 0)
})

t.test('a first worker that cannot start ends the service with its message', async t => {
  const folder = await temporaryFolder(t)
  const one = await startServiceProcess(t, folder)
  const port = new URL(one.url).port
  const service = startServiceProcess(t, await temporaryFolder(t), { WORKERS: '2', PORT: port })
  await t.rejects(service, { message: /EADDRINUSE.*Set PORT to a free port/s })
})

t.test('the views show what the second worker does at the end', async t => {
  const { folder, service, first, send } = await start(t)
  // A stopped process takes no connections.
  process.kill(first, 'SIGSTOP')
  const run = send<{ status: string }>('/v1/run', sandbox({ delay_ms: 600 }))
  await delay(400)
  process.kill(first, 'SIGCONT')
  t.equal((await service.end('SIGTERM')).code, 0)
  t.equal((await run).body.status, 'completed')
  const text = await operatorOf(folder).text(t, 'doctor')
  const [shown, written] = [/up to position (\d+)/, /at position (\d+)/].map(pattern => pattern.exec(text)?.[1])
  t.equal(shown, written)
})
