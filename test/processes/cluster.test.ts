import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import t, { type Test } from 'tap'
import type { Balance } from '../../schemas/api/balance.ts'
import type { RunList } from '../../schemas/api/run.ts'
import { Client, picture, type Reply, sandbox } from '../support/client.ts'
import { type Cluster, type ClusterOptions, needsCluster, startCluster } from '../support/cluster.ts'
import { openClusterAccounts } from '../support/cluster-accounts.ts'
import type { AccountOptions } from '../support/service.ts'
import { ScriptProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'
import { auditCluster } from './cluster-audit.ts'

t.setTimeout(240_000)

/** How many requests three processes get at once, with credits for ten. */
const REQUESTS = isLong ? 400 : 100

/** As long as a 503 answer asks clients to wait. */
const RETRY_AFTER_MS = 1000

/** Requests a run once, repeating 503 answers with the same idempotency key. */
const runOnce = (client: Client, request: object): Promise<Reply> => {
  const key = crypto.randomUUID()
  const ask = async () => {
    const reply = await client.run(request, { 'Idempotency-Key': key })
    return reply.status !== 503 && reply
  }
  return until('the request is decided', ask, { pollMs: RETRY_AFTER_MS })
}

/** The balance at or after a position in the log. */
const balanceAt = async (client: Client, position: number): Promise<number> => {
  const headers = { 'Tollgate-Position': String(position) }
  return (await client.send<Balance>('/v1/balance', { headers })).body.credits_balance
}

/** Waits for `count` processing runs and returns their ids. */
const untilProcessing = (client: Client, count: number): Promise<string[]> =>
  until(`${count} runs are in progress`, async () => {
    const { status, body } = await client.send<RunList>('/v1/runs?status=processing')
    return status === 200 && body.data.length >= count && body.data.map(run => run.run_id)
  })

t.test('processes that share EventStoreDB, Redis and S3', needsCluster(), async t => {
  const stores = await startCluster({ size: 0 })
  t.teardown(stores.stop)

  /** Services on these stores, and a client of one account for each. */
  const start = async (t: Test, services: ClusterOptions, account: AccountOptions) => {
    const cluster = await startCluster({ ...services, env: stores.env })
    t.teardown(cluster.stop)
    const [customer] = await openClusterAccounts(cluster, account)
    const clients = cluster.members.map(({ url }) => customer.at(url)) as [Client, Client, Client]
    return { cluster, clients, accountId: customer.accountId }
  }

  /** Stops the services, audits the log and the views, and returns the ledger of the account. */
  const stopAndAudit = async (t: Test, cluster: Cluster, accountId: string) => {
    for (const end of await cluster.stop()) t.same(end, { code: 0, signal: null, stderr: '' })
    const audit = await auditCluster(stores)
    t.same(audit.faults, [])
    return audit.ledgers.get(accountId)
  }

  await t.test('accept ten of many requests with credits for ten', async t => {
    const { cluster, clients, accountId } = await start(t, {}, { credits: 100 })
    const replies = await Promise.all(
      Array.from({ length: REQUESTS }, (_, index) => runOnce(clients[index % 3] as Client, picture)),
    )
    const accepted = replies.filter(({ status }) => status === 200 || status === 202)
    t.equal(accepted.length, 10)
    t.equal(replies.filter(({ status }) => status === 402).length, REQUESTS - 10)
    const position = Math.max(...accepted.map(({ headers }) => Number(headers.get('Tollgate-Position'))))
    for (const client of clients) t.equal(await balanceAt(client, position), 0)

    const ledger = await stopAndAudit(t, cluster, accountId)
    t.equal(ledger?.balanceMicros, 0)
    t.same(new Set(ledger?.runs.keys()), new Set(accepted.map(({ body }) => body.run_id)))
    t.ok([...(ledger?.runs.values() ?? [])].every(({ end }) => end === 'completed'))
  })

  await t.test('complete runs accepted by others and cancel runs on behalf of others', async t => {
    const roles = ['api,projector', 'api,reactors']
    const { cluster, clients, accountId } = await start(t, { size: 2, roles }, { credits: 100, tester: true })
    const [asking, working] = clients
    const cancel = (runId: string) =>
      asking.send(`/v1/runs/${runId}/cancel`, { method: 'POST', headers: { Prefer: 'wait=60' } })
    const isCancelled = { status: 200, body: { status: 'failed', error: { code: 'cancelled' }, credits_refunded: 1 } }

    const held = await asking.run(sandbox({ delay_ms: 500 }))
    t.match(held, { status: 200, body: { status: 'completed', output: { text: 'Sandbox heard: hello' } } })
    const failed = await asking.run(sandbox({ outcome: 'content_rejected' }))
    t.match(failed, { status: 200, body: { status: 'failed', credits_refunded: 1 } })

    // Neither run ends by itself during the test, and the process that gets the cancellations runs neither.
    const job = await working.run({ model: 'sandbox', input: { prompt: 'hello', image_url: 'none', outcome: 'hang' } })
    t.equal(job.status, 202)
    const answer = working.run(sandbox({ outcome: 'hang' }))
    const worked = await untilProcessing(asking, 2)
    const cancelled = await Promise.all(worked.map(cancel))
    t.same(new Set(cancelled.map(({ body }) => body.run_id)), new Set([job.body.run_id, (await answer).body.run_id]))
    for (const reply of [...cancelled, await answer]) t.match(reply, isCancelled)
    const position = Math.max(...cancelled.map(({ headers }) => Number(headers.get('Tollgate-Position'))))
    for (const client of [asking, working]) t.equal(await balanceAt(client, position), 99)

    const ledger = await stopAndAudit(t, cluster, accountId)
    const ends = [...(ledger?.runs.values() ?? [])].map(({ end, errorCode = end }) => errorCode)
    t.same(ends.sort(), ['cancelled', 'cancelled', 'completed', 'content_rejected'])
  })
})

// The short form leaves out the command, which starts the servers and services once more.
if (isLong)
  t.test('npm run cluster', needsCluster(), async t => {
    const script = 'test/support/cluster-process.ts'
    const folder = await temporaryFolder(t)

    /** The files and processes of the cluster in this folder. */
    const leftovers = async () => {
      const files = (await readdir(folder)).filter(name => name.startsWith('tollgate-'))
      const processes = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
      const named = await Promise.all(
        processes.map(async pid => {
          const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
          return (await read('cmdline')).includes(folder) || (await read('environ')).includes(folder) ? [pid] : []
        }),
      )
      return [...files, ...named.flat()]
    }

    const cluster = new ScriptProcess(script, ['2', 'api'], { TMPDIR: folder })
    t.teardown(() => cluster.end('SIGKILL'))
    const [printed] = await cluster.until(/.*Ctrl-C stops/s)
    t.ok((await leftovers()).length > 6, 'files and processes are found')
    const processes = [...printed.matchAll(/process \d +(\S+) +pid (\d+) +(\S+)/g)].map(([, ...cells]) => cells)
    t.match(processes, [
      [/^http/, /\d/, 'api'],
      [/^http/, /\d/, 'api,projector,reactors'],
    ])

    await t.test('prints how to use the cluster', async t => {
      const [, apiKey] = /Bearer (\w+)/.exec(printed) ?? []
      t.match(await new Client(String(processes[0]?.[0]), apiKey).run(picture), {
        status: 200,
        body: { status: 'completed' },
      })

      const env = Object.fromEntries([...printed.matchAll(/(\w+)='(.*?)'/g)].map(([, name, value]) => [name, value]))
      const open = ['accounts', 'open', '--email', 'ada@example.com', '--credits', '7', '--json']
      const { stdout, stderr } = await new ScriptProcess('src/cli.ts', open, env).ended
      t.equal(stderr, '')
      for (const [url = ''] of processes) t.equal(await new Client(url, JSON.parse(stdout).api_key).balance(), 7)
    })

    await t.test('reports a process that ends and leaves nothing behind', async t => {
      process.kill(Number(processes[1]?.[1]), 'SIGKILL')
      await cluster.until(/process 2 exited unexpectedly \(SIGKILL\)/)
      const { code, stderr } = await cluster.end('SIGINT')
      t.same({ code, stderr }, { code: 0, stderr: '' })
      t.same(await leftovers(), [])
    })

    await t.test('reports why it cannot start and leaves nothing behind', async t => {
      const taken = createServer().listen(0, '127.0.0.1')
      t.teardown(() => taken.close())
      await once(taken, 'listening')
      const { port } = taken.address() as AddressInfo
      const failures: [args: string[], env: Record<string, string>, message: RegExp][] = [
        [['many'], {}, /^Give the number of processes/],
        [['1', 'api', 'projector'], {}, /^Give the number of processes/],
        [[], { PATH: folder }, /install redis-server\n.*install ceph-mon, ceph-osd and radosgw$/],
        [
          ['1'],
          { PORT: String(port), EVENT_STORE_URL: `lmdb:${folder}/log`, OBJECT_STORE_URL: `file:${folder}/objects` },
          /EADDRINUSE/,
        ],
      ]
      const run = async ([args, env, message]: (typeof failures)[number]) => {
        const { code, stderr } = await new ScriptProcess(script, args, { TMPDIR: folder, ...env }).ended
        t.equal(code, 1)
        t.match(stderr.trim(), message)
        t.notMatch(stderr, /^ +at /m, 'shows no stack')
      }
      await Promise.all(failures.map(run))
      t.same(await leftovers(), [])
    })
  })
