import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { Run } from '../../schemas/api/run.ts'
import { type Client, type Reply, sandbox } from '../support/client.ts'
import { auditFolder } from '../support/ledger.ts'
import { toRun } from '../support/program.ts'
import { freePorts } from '../support/server-program.ts'
import { type AccountOptions, openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

// The tests start many processes, about one second each.
t.setTimeout(120_000)

/** Container runtimes kill a process 10 s after SIGTERM. */
const STOP_BOUND_MS = 10_000

/** A service process with an account on it. */
const startWithCustomer = async (t: Test, options: AccountOptions = { tester: true }) => {
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, options)
  // An account may hold half of these slots.
  const process = await startServiceProcess(t, folder, { PROVIDER_CONCURRENCY: '128' })
  return { folder, process, client: customer.at(process.url) }
}

/** Sends run requests and resolves once all runs are listed. */
const begin = async (client: Client, delays: number[]): Promise<Promise<Reply>[]> => {
  const replies = delays.map(delay_ms => client.run(sandbox({ delay_ms })))
  const list = async () => (await client.send<{ data: Run[] }>('/v1/runs?limit=100')).body.data
  await until('all runs are listed', async () => (await list()).length >= delays.length)
  return replies
}

t.test('SIGTERM: runs that can finish in time do, and the others are refunded', async t => {
  const { folder, process, client } = await startWithCustomer(t)
  const replies = await begin(client, [1500, 1500, 60_000, 60_000])

  const startMs = performance.now()
  const ending = process.end('SIGTERM')
  // Further signals must not shorten the stop.
  process.end('SIGTERM')
  process.end('SIGINT')
  const answered = await Promise.all(replies)
  const { code, stdout, stderr } = await ending
  t.ok(performance.now() - startMs < STOP_BOUND_MS)
  t.equal(code, 0)
  t.equal(stderr, '')
  t.match(stdout, /"msg":"stopped"/)

  t.same(
    answered.map(({ status, body }) => [status, body.status, body.error?.code]),
    [
      [200, 'completed', undefined],
      [200, 'completed', undefined],
      [200, 'failed', 'interrupted'],
      [200, 'failed', 'interrupted'],
    ],
  )
  const { ledgers, faults } = await auditFolder(folder)
  t.same(faults, [])
  t.same(
    [...ledgers.values()].map(ledger => ledger.balanceMicros),
    [98_000_000],
  )
})

t.test('SIGINT stops the service gracefully', async t => {
  const { process, client } = await startWithCustomer(t)
  const replies = await begin(client, [500])
  const { code } = await process.end('SIGINT')
  t.equal(code, 0)
  t.same(
    (await Promise.all(replies)).map(({ body }) => body.status),
    ['completed'],
  )
  await t.rejects(client.run(sandbox()), 'a stopped service accepts no requests')
})

t.test('a service whose output nobody reads any more runs, and stops', async t => {
  const folder = await temporaryFolder(t)
  const [command = '', ...args] = toRun('src/main.ts')
  const [port] = await freePorts('127.0.0.1', 1)
  const start = () => {
    const env = { PATH: process.env['PATH'], DATA_DIR: folder, PORT: String(port) }
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  const end = async (child: ReturnType<typeof start>) => {
    child.kill('SIGTERM')
    return once(child, 'exit')
  }
  const first = start()
  first.stdout.destroy()
  const isHealthy = async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.ok === true
  await until('the service has printed the first key and answers', async () => first.exitCode !== null || isHealthy())
  t.same(await end(first), [0, null])

  const second = start()
  let written = ''
  for await (const text of second.stdout.setEncoding('utf8')) {
    written += text
    if (written.includes('"listening"')) break
  }
  t.same(await end(second), [0, null])
})
