import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Balance } from '../../schemas/api/balance.ts'
import type { RunList } from '../../schemas/api/run.ts'
import { toMicros } from '../../src/domain/money.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { openClusterAccounts } from '../support/cluster-accounts.ts'
import { allRuns } from '../support/ledger.ts'
import { seededRandom, testSeed } from '../support/seeded-random.ts'
import type { Customer } from '../support/service.ts'
import { auditCluster, type ClusterAudit } from './cluster-audit.ts'
import { type AnsweredRun, ClusterWorker } from './cluster-worker.ts'

// Kills the services of a cluster in turn, under load, then checks their data. Run manually:
//   node --import=tsx test/processes/cluster-crash.ts --kills 20 --seed 7

/** A dead process's run is checked 10 s after its start and its lease ends after 15 s; the rest is for the work. */
const LONGEST_WATCH_MS = 10_000 + 15_000 + 20_000

/** One kill in this many may hit a starting process. */
const EARLY_KILLS = 5

const CLIENTS_PER_ACCOUNT = 3

export interface ClusterCrashReport {
  /** The number of requests by kind. */
  counts: Record<string, number>
  /** The number of runs by error code or outcome. */
  ends: Record<string, number>
  faults: string[]
}

/** Kills services at moments derived from the seed. Without faults, nothing was lost or repeated. */
export const clusterCrash = async (
  { kills, accounts: count = 4, seed }: { kills: number; accounts?: number; seed: number },
  progress: (text: string) => void = () => undefined,
): Promise<ClusterCrashReport> => {
  const random = seededRandom(seed)
  const faults: string[] = []
  const cluster = await startCluster({
    onEnd: ({ name }, { code, signal, stderr }) => faults.push(`${name} ended with ${signal ?? code}: ${stderr}`),
  })
  try {
    const options = Array.from({ length: count }, () => ({ credits: 1_000_000, tester: true }))
    const accounts: Customer[] = await openClusterAccounts(cluster, ...options)
    const urls = () => cluster.members.map(({ url }) => url)
    const workers = accounts.flatMap(account =>
      Array.from({ length: CLIENTS_PER_ACCOUNT }, () => new ClusterWorker(account, urls, random)),
    )
    const stop = new AbortController()
    const working = Promise.all(workers.map(worker => worker.work(stop.signal)))
    await killInTurn(cluster, kills, random, progress)
    stop.abort()
    await working
    progress('the load has ended')

    faults.push(...workers.flatMap(worker => worker.faults), ...(await waitForEnds(accounts, cluster)))
    progress('the runs have ended')
    const audit = await auditCluster(cluster)
    faults.push(...audit.faults, ...(await findWrongBalances(accounts, cluster, audit)))
    const answered = workers.flatMap(worker => worker.answered)
    faults.push(...findUnkept(audit, answered))
    for (const { code, stderr } of await cluster.stop())
      if (code !== 0 || stderr) faults.push(`the last stop ended with ${code}: ${stderr}`)
    const ends = [...allRuns(audit).values()].map(({ end = 'open', errorCode = end }) => ({ [errorCode]: 1 }))
    return { counts: sum(workers.map(worker => worker.counts)), ends: sum(ends), faults }
  } finally {
    await cluster.stop()
  }
}

/** Kills one service after another. Each restarts while the next one dies, so one of three always answers. */
const killInTurn = async (
  { members }: Cluster,
  kills: number,
  random: () => number,
  progress: (text: string) => void,
) => {
  const starting = members.map(() => Promise.resolve())
  for (let kill = 0; kill < kills; kill++) {
    const turn = kill % members.length
    await starting[(turn + 1) % members.length]
    if (random() >= 1 / EARLY_KILLS) await starting[turn]
    await delay(random() * 1000)
    await members[turn]?.end('SIGKILL')
    const started = members[turn]?.start() ?? Promise.resolve()
    // A failed start is reported when it is awaited; the service may be killed again before that.
    started.catch(() => undefined)
    starting[turn] = started
    progress(`kill ${kill + 1} of ${kills}`)
  }
  await Promise.all(starting)
}

/** Waits until every run has ended, at most the time of a watch and a lease. */
const waitForEnds = async (accounts: Customer[], { members }: Cluster): Promise<string[]> => {
  const untilMs = performance.now() + LONGEST_WATCH_MS
  for (const account of accounts)
    for (const status of ['queued', 'processing'])
      while (true) {
        const list = `/v1/runs?status=${status}&limit=100`
        const { status: answered, body } = await account.at(String(members[0]?.url)).send<RunList>(list)
        if (answered === 200 && body.data.length === 0 && !body.has_more) break
        if (performance.now() > untilMs) return [`runs are ${status} after ${LONGEST_WATCH_MS} ms`]
        await delay(250)
      }
  return []
}

/** Compares the balances that each process reports with the log. */
const findWrongBalances = async (
  accounts: Customer[],
  { members }: Cluster,
  { ledgers, head }: ClusterAudit,
): Promise<string[]> => {
  const faults: string[] = []
  for (const account of accounts)
    for (const { name, url } of members) {
      const headers = { 'Tollgate-Position': String(head) }
      const { status, text, body } = await account.at(url).send<Balance>('/v1/balance', { headers })
      const logged = ledgers.get(account.accountId)?.balanceMicros
      if (status !== 200 || toMicros(body.credits_balance) !== logged)
        faults.push(`${name} says ${text} where the log says ${logged}`)
    }
  return faults
}

/** Compares the runs in the log with the answers to the clients. */
const findUnkept = (audit: ClusterAudit, answered: AnsweredRun[]): string[] => {
  const runs = allRuns(audit)
  const known = new Set(answered.map(({ runId }) => runId))
  const faults = [...runs].flatMap(([runId, { end }]) => [
    ...(end ? [] : [`${runId} has not ended, and its debit is open`]),
    ...(known.has(runId) ? [] : [`${runId} is unknown to all clients`]),
  ])
  for (const { runId, key, end } of answered) {
    const run = runs.get(runId)
    if (!run) faults.push(`${runId} is not in the log`)
    else if (run.idempotencyKey !== key) faults.push(`${runId} is the run of another request`)
    else if (end !== undefined && end !== (run.errorCode ?? run.end))
      faults.push(`${runId} is ${run.errorCode ?? run.end}, and was to be ${end}`)
  }
  return faults
}

const sum = <Counts extends Record<string, number>>(all: Counts[]): Counts => {
  const total: Record<string, number> = {}
  for (const counts of all) for (const [name, value] of Object.entries(counts)) total[name] = (total[name] ?? 0) + value
  return total as Counts
}

const main = async () => {
  const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string' } } })
  const { kills = '20', seed = String(testSeed()) } = values
  console.log(`seed ${seed}`)
  const startMs = Date.now()
  const progress = (text: string) => console.log(`${Date.now() - startMs} ms: ${text}`)
  const report = await clusterCrash({ kills: Number(kills), seed: Number(seed) }, progress)
  console.log(report.counts, report.ends)
  for (const fault of report.faults) console.error(fault)
  if (report.faults.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
