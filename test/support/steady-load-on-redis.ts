import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { toMicros } from '../../src/domain/money.ts'
import { type Audit, auditFolder } from './ledger.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { type Customer, openAccount, openFolder } from './service.ts'
import { startServiceProcess } from './service-process.ts'
import { type Answered, SteadyClient } from './steady-load.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { PNG_REQUEST } from './uploads.ts'

/** Processes on one folder with views in one Redis, under constant load. */
export interface LoadOnRedis {
  folder: string
  redis: RedisServer
  urls: string[]
  /** A customer whose key every process has seen, and one whose key none has. The clients have others. */
  guest: Customer
  stranger: Customer
  /** The responses to requests that clients sent from a moment on. */
  answersSince(sinceMs: number): Answered[]
  /** Resolves when each client has read again. */
  allRead(): Promise<void>
  /** Stops new requests. */
  end(): Promise<void>
  /** Waits until all accepted runs have ended, stops the processes, and checks the result. */
  finish(): Promise<void>
}

const CREDITS = 100_000

/** Idle accounts, which make rebuilding the views take several steps, so that they are incomplete meanwhile. */
const IDLE_ACCOUNTS = 1200

/** One of these stays with each process, and the others switch between them. */
const CLIENTS_PER_PROCESS = 2

/** How long the load runs before the disturbance. */
const BEFORE_MS = 1500

/** The recovery time: at most 2 s to reconnect, and 5 s to follow the log again. */
const BACK_MS = 25_000

const POLL_MS = 50

/** Starts a process for each list of roles, and the clients. */
export const startLoadOnRedis = async (t: Test, ...roles: string[]): Promise<LoadOnRedis> => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const folder = await temporaryFolder(t)
  const environment = { VIEW_STORE_URL: redis.url, ALLOW_PRIVATE_WEBHOOKS: 'true' }
  const [guest, stranger, ...customers] = await openCustomers(folder, environment, roles.length * CLIENTS_PER_PROCESS)
  const receiver = await startReceiver(t)
  const starting = roles.map(each => startServiceProcess(t, folder, { ...environment, ROLES: each }))
  const processes = await Promise.all(starting)
  const urls = processes.map(({ url }) => url)
  const introduce = async (customer: Customer) => {
    for (const url of urls) t.equal((await customer.at(url).post('/v1/uploads/presigned', PNG_REQUEST)).status, 200)
  }
  await Promise.all([guest, ...customers].map(introduce))

  const clients = customers.map((customer, index) => {
    const own = urls[index]
    return new SteadyClient({ customer, credits: CREDITS, urls: own ? [own] : urls, webhookUrl: receiver.url })
  })
  const answersSince = (sinceMs: number) => clients.flatMap(client => client.answersSince(sinceMs))
  const stop = new AbortController()
  const working = clients.map(client => client.work(stop.signal))
  await delay(BEFORE_MS)
  t.equal(countOf(answersSince(0), 503), 0, 'every request succeeds before the disturbance')

  return {
    ...{ folder, redis, urls, guest, stranger, answersSince },
    allRead: async () => {
      const sinceMs = performance.now()
      const isBack = (client: SteadyClient) => countOf(ofKind(client.answersSince(sinceMs), 'read'), 200) > 0
      t.ok(await holdsSoon(() => clients.every(isBack)), 'all clients read again')
    },
    end: async () => {
      stop.abort()
      await Promise.all(working)
    },
    finish: async () => {
      await Promise.all(clients.map(client => client.settle()))
      t.same(
        clients.flatMap(client => client.faults),
        [],
      )
      t.ok(await allTold(clients, receiver), 'all receivers get their webhooks')
      for (const { code, stderr } of await Promise.all(processes.map(process => process.end('SIGTERM'))))
        t.same({ code, stderr }, { code: 0, stderr: '' })
      const audit = await auditFolder(folder, environment)
      t.same(audit.faults, [])
      t.same(findUnkept(audit, clients), [])
    },
  }
}

export const ofKind = (answered: Answered[], expected: Answered['kind']): Answered[] =>
  answered.filter(({ kind }) => kind === expected)

export const countOf = (answered: Answered[], expected: number): number =>
  answered.filter(({ status }) => status === expected).length

const openCustomers = async (folder: string, environment: Record<string, string>, clients: number) => {
  const core = await openFolder(folder, { environment })
  const open = (count: number) =>
    Promise.all(Array.from({ length: count }, () => openAccount({ core, url: '' }, { credits: CREDITS, tester: true })))
  try {
    // These come first in the log, so partially rebuilt views have their first rows.
    const customers = await open(2 + clients)
    await open(IDLE_ACCOUNTS)
    return customers as [Customer, Customer, ...Customer[]]
  } finally {
    await core.close()
  }
}

/** Waits until every webhook that is due has arrived at least once. */
const allTold = async (clients: SteadyClient[], receiver: Receiver): Promise<boolean> => {
  const jobs = clients.flatMap(({ accepted }) => accepted.filter(({ isJob }) => isJob))
  const isTold = () => jobs.every(({ runId }) => receiver.deliveriesOf(runId).length > 0)
  return holdsSoon(isTold)
}

/** Whether a condition holds within the recovery time. */
const holdsSoon = async (holds: () => boolean): Promise<boolean> => {
  const endMs = performance.now() + BACK_MS
  while (!holds() && performance.now() < endMs) await delay(POLL_MS)
  return holds()
}

/** The log must match what clients were told. */
const findUnkept = ({ ledgers }: Audit, clients: SteadyClient[]): string[] =>
  clients.flatMap(({ customer: { accountId }, accepted, credits }) => {
    const ledger = ledgers.get(accountId)
    if (!ledger) return [`${accountId} is not in the log`]
    const { balanceMicros, runs } = ledger
    const faults = accepted.flatMap(({ runId, fails }) =>
      runs.get(runId)?.end === (fails ? 'failed' : 'completed') ? [] : [`${runId} has not ended as it was to`],
    )
    if (runs.size !== accepted.length) faults.push(`${accepted.length} runs were accepted, but ${runs.size} exist`)
    if (balanceMicros !== toMicros(credits))
      faults.push(`the balance is ${balanceMicros} instead of ${credits} credits`)
    return faults
  })
