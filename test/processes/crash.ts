import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { RunList } from '../../schemas/api/run.ts'
import { type Client, picture, type Reply, sandbox } from '../support/client.ts'
import { type Audit, allRuns, auditFolder } from '../support/ledger.ts'
import { seededRandom, testSeed } from '../support/seeded-random.ts'
import { openAccounts } from '../support/service.ts'
import { ServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

// Kills a service under load repeatedly, then checks its data. Run manually:
//   node --import=tsx test/processes/crash.ts --kills 100 --seed 7

/** A dead process's run is checked 10 s after its start and its lease ends after 15 s; the rest is for the work. */
const LONGEST_WATCH_MS = 10_000 + 15_000 + 10_000

/** One kill in this many hits a starting service. */
const EARLY_KILLS = 5

const ACCOUNTS = 4
const CLIENTS_PER_ACCOUNT = 4

export interface CrashReport {
  kills: number
  /** Runs acknowledged with 2xx, and requests repeated after a kill. */
  acknowledged: number
  repeated: number
  audit: Audit
  faults: string[]
}

interface Acknowledged {
  client: Client
  key: string
  runId: string
}

/** Kills a service at moments derived from the seed. Without faults, nothing was lost or repeated. */
export const crash = async (
  { kills, seed }: { kills: number; seed: number },
  progress: (text: string) => void = () => undefined,
): Promise<CrashReport> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-crash-'))
  const random = seededRandom(seed)
  let service: ServiceProcess | undefined
  try {
    const options = Array.from({ length: ACCOUNTS }, () => ({ credits: 1_000_000, tester: true }))
    const accounts: Client[] = await openAccounts(folder, ...options)
    const workers = accounts.flatMap(account =>
      Array.from({ length: CLIENTS_PER_ACCOUNT }, () => new Worker(account, random)),
    )
    const faults: string[] = []
    const acknowledged = () => workers.flatMap(worker => worker.acknowledged)
    let checked = 0

    for (let kill = 1; kill <= kills; kill++) {
      service = new ServiceProcess(folder)
      if (random() < 1 / EARLY_KILLS) await delay(random() * 1500)
      else {
        const url = await service.listening()
        const all = acknowledged()
        faults.push(...(await findMissing(all.slice(checked), url)))
        checked = all.length
        const stop = new AbortController()
        const working = workers.map(worker => worker.work(url, stop.signal))
        // However slow the machine is, each kill interrupts work.
        await until('runs are acknowledged', () => acknowledged().length > all.length + 4)
        await delay(50 + random() * 800)
        service.end('SIGKILL')
        stop.abort()
        await Promise.all(working)
      }
      await service.end('SIGKILL')
      progress(`kill ${kill} of ${kills}: ${acknowledged().length} runs were acknowledged`)
    }

    service = new ServiceProcess(folder)
    const url = await service.listening()
    // Unanswered requests are repeated with their keys and must not make second runs.
    await Promise.all(workers.map(worker => worker.settle(url)))
    faults.push(...(await findMissing(acknowledged().slice(checked), url)))
    faults.push(...(await waitForEnds(accounts, url)))
    const { code } = await service.end('SIGTERM')
    if (code !== 0) faults.push(`the last stop ended with ${code}`)

    const audit = await auditFolder(folder)
    faults.push(...workers.flatMap(worker => worker.faults), ...audit.faults, ...findUnkept(audit, acknowledged()))
    const repeated = workers.reduce((sum, worker) => sum + worker.repeated, 0)
    return { kills, acknowledged: acknowledged().length, repeated, audit, faults }
  } finally {
    await service?.end('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

/** A client that requests one run after another and repeats unanswered requests with the same key. */
class Worker {
  readonly acknowledged: Acknowledged[] = []
  /** Answers that kills do not explain. */
  readonly faults: string[] = []
  repeated = 0
  readonly #client: Client
  readonly #random: () => number
  readonly #unanswered = new Map<string, object>()

  constructor(client: Client, random: () => number) {
    this.#client = client
    this.#random = random
  }

  async work(url: string, stop: AbortSignal) {
    // A repeated request may wait for a run of a dead process, so new requests do not wait for it.
    const repeating = this.settle(url).catch(() => undefined)
    while (!stop.aborted) await this.#ask(url, crypto.randomUUID(), this.#nextRequest()).catch(() => undefined)
    await repeating
  }

  async settle(url: string) {
    const unanswered = [...this.#unanswered]
    this.repeated += unanswered.length
    await Promise.all(unanswered.map(([key, request]) => this.#ask(url, key, request)))
  }

  async #ask(url: string, key: string, request: object) {
    this.#unanswered.set(key, request)
    const reply = await this.#client.at(url).run(request, { 'Idempotency-Key': key, Prefer: 'wait=1' })
    if (reply.status !== 200 && reply.status !== 202) {
      const answer = `a request was answered with ${reply.status}: ${reply.text}`
      if (reply.status !== 503) this.faults.push(answer)
      throw new Error(answer)
    }
    this.acknowledged.push({ client: this.#client, key, runId: reply.body.run_id })
    this.#unanswered.delete(key)
  }

  #nextRequest(): object {
    const dice = this.#random()
    if (dice < 0.02) return picture
    if (dice < 0.12) return sandbox({ outcome: 'provider_error' })
    return sandbox({ delay_ms: Math.floor(this.#random() * 200) })
  }
}

/** Checks that every acknowledged run can be read. */
const findMissing = async (acknowledged: Acknowledged[], url: string): Promise<string[]> => {
  const replies: Reply[] = []
  for (const { client, runId } of acknowledged) replies.push(await client.at(url).send(`/v1/runs/${runId}`))
  return replies.flatMap(({ status, text }) =>
    status === 200 ? [] : [`an acknowledged run answers ${status}: ${text}`],
  )
}

/** Waits until every run has ended, at most the time of a watch and a lease. */
const waitForEnds = async (accounts: Client[], url: string): Promise<string[]> => {
  const endMs = performance.now() + LONGEST_WATCH_MS
  for (const account of accounts)
    for (const status of ['queued', 'processing'])
      while ((await findAny(account.at(url), status)) && performance.now() < endMs) await delay(250)
  const late = await Promise.all(accounts.map(account => findAny(account.at(url), 'processing')))
  return late.some(Boolean) ? [`a run has not ended within ${LONGEST_WATCH_MS} ms`] : []
}

/** Whether any run of the account has this status. A page can be empty and still have a cursor. */
const findAny = async (client: Client, status: string): Promise<boolean> => {
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = `status=${status}&limit=100${cursor && `&cursor=${cursor}`}`
    const { body } = await client.send<RunList>(`/v1/runs?${query}`)
    if (body.data.length > 0) return true
    cursor = body.next_cursor
  }
  return false
}

/** Compares the runs in the log with the answers to the clients. */
const findUnkept = (audit: Audit, acknowledged: Acknowledged[]): string[] => {
  const runs = allRuns(audit)
  const runIdByKey = new Map(acknowledged.map(({ key, runId }) => [key, runId]))
  const faults = acknowledged.filter(({ runId }) => !runs.has(runId)).map(({ runId }) => `${runId} is not in the log`)
  for (const [runId, { end, idempotencyKey }] of runs) {
    if (!end) faults.push(`${runId} has not ended, and its debit is open`)
    if (runIdByKey.get(idempotencyKey ?? '') !== runId) faults.push(`${runId} is unknown to all clients`)
  }
  return faults
}

const main = async () => {
  const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string' } } })
  const { kills = '25', seed = String(testSeed()) } = values
  console.log(`seed ${seed}`)
  const report = await crash({ kills: Number(kills), seed: Number(seed) }, console.log)
  const ends: Record<string, number> = {}
  for (const { end = 'open', errorCode = end } of allRuns(report.audit).values())
    ends[errorCode] = (ends[errorCode] ?? 0) + 1
  console.log(ends)
  console.log(`${report.acknowledged} runs were acknowledged, ${report.repeated} requests were repeated`)
  for (const fault of report.faults) console.error(fault)
  if (report.faults.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
