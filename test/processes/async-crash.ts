import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Client } from '../support/client.ts'
import { type Audit, allRuns, auditFolder } from '../support/ledger.ts'
import { openAccount, openFolder } from '../support/service.ts'
import { ScriptProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'
import type { Fault, Step, Tally } from '../support/vendor.ts'
import { offer, order, syncOrder, vendorFamily } from '../support/vendor-families.ts'

// Kills a service at each step of its async runs, then checks the runs. Run manually:
//   node --import=tsx test/processes/async-crash.ts --kills 5 --runs 20

/** A dead process's run is checked 10 s after its start and its lease ends after 15 s; the rest is for the work. */
const LONGEST_WATCH_MS = 10_000 + 15_000 + 20_000

const POLL = { pollMs: 100, maxWaitMs: LONGEST_WATCH_MS }

const PRICE_MICROS = 1_000_000

/**
 * The state of a run when its process dies. `asked`: the provider has not yet accepted it; `taken`: the acceptance is
 * not recorded; `polled`: the job is being polled; `copied`: the completion is not recorded.
 */
const steps = ['asked', 'taken', 'polled', 'copied'] as const satisfies Step[]

export interface AsyncCrashReport {
  runs: number
  faults: string[]
}

interface Victim {
  runId: string
  step: Step
  isSync: boolean
  /** The number of processes that die while the run is held at its step. */
  deaths: number
}

/** Kills a service `kills` times with `runs` runs at each step. Without faults, each run ended as expected. */
export const asyncCrash = async (
  { kills, runs }: { kills: number; runs: number },
  progress: (text: string) => void = () => undefined,
): Promise<AsyncCrashReport> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-async-crash-'))
  const vendor = new ScriptProcess('test/support/vendor-process.ts', [], {})
  let service: ScriptProcess | undefined
  try {
    const [vendorUrl] = await vendor.until(/http:\S+/)
    const customer = await openCustomer(folder)
    const start = async (): Promise<Client> => {
      const env = { DATA_DIR: folder, PORT: '0', VENDOR_URL: vendorUrl, ALLOW_PRIVATE_WEBHOOKS: 'true' }
      service = new ScriptProcess('test/support/vendor-service-process.ts', [], env)
      const [, url = ''] = await service.until(/"url":"([^"]+)".*"msg":"listening"/)
      return customer.at(url)
    }

    let client = await start()
    const victims = await requestRuns(client, kills, runs)
    for (let kill = 1; kill <= kills; kill++) {
      const dying = victims.filter(({ deaths }) => deaths >= kill)
      await until(
        `${dying.length} runs are held and the others have ended (kill ${kill})`,
        async () => {
          const tallies = await readTallies(vendorUrl)
          const areHeld = dying.every(({ runId, step }) => tallies[runId]?.held[step] === kill)
          return areHeld && (await countOpen(client)) === dying.length
        },
        POLL,
      )
      await service?.end('SIGKILL')
      progress(`kill ${kill} of ${kills}: ${dying.length} runs were in flight`)
      client = await start()
      if (kill === kills) await until('all runs have ended', async () => (await countOpen(client)) === 0, POLL)
    }
    const ended = await service?.end('SIGTERM')
    const faults = ended?.code === 0 ? [] : [`the last stop ended with ${ended?.code}: ${ended?.stderr}`]
    const audit = await auditFolder(folder)
    const tallies = await readTallies(vendorUrl)
    const wrong = victims.flatMap(victim => findFaults(victim, audit, tallies[victim.runId]))
    return { runs: victims.length, faults: [...faults, ...audit.faults, ...wrong, ...findUnknownRuns(victims, audit)] }
  } finally {
    await Promise.all([service?.end('SIGKILL'), vendor.end('SIGKILL')])
    await rm(folder, { recursive: true, force: true })
  }
}

/** Opens an account in a folder whose catalog has the vendor's family. */
const openCustomer = async (folder: string): Promise<Client> => {
  const core = await openFolder(folder)
  await offer(core, vendorFamily())
  const customer = await openAccount({ core, url: 'http://localhost' }, { credits: 10_000 })
  await core.close()
  return customer
}

/** Requests runs that are held at each step for one up to `kills` processes; sync runs fail with the first. */
const requestRuns = async (client: Client, kills: number, runs: number): Promise<Victim[]> => {
  const numbers = Array.from({ length: kills }, (_, index) => index + 1)
  const plans = steps.flatMap(step => [
    ...numbers.map(deaths => ({ step, deaths, isSync: false })),
    { step, deaths: 1, isSync: true },
  ])
  const requests = plans.flatMap(plan => Array.from({ length: runs }, () => plan))
  return Promise.all(
    requests.map(async plan => {
      const { step, deaths, isSync } = plan
      const fault: Fault = { step, act: 'hold', times: deaths }
      const request = (isSync ? syncOrder : order)({ result: 'media', faults: [fault] })
      const { status, text, body } = await client.run(request, { Prefer: 'wait=1' })
      if (status !== 202) throw new Error(`a run was answered with ${status}: ${text}`)
      return { runId: body.run_id, ...plan }
    }),
  )
}

const readTallies = async (vendorUrl: string): Promise<Record<string, Tally>> =>
  (await fetch(`${vendorUrl}/tallies`)).json() as Promise<Record<string, Tally>>

/** The number of runs that have not ended, up to 200. */
const countOpen = async (client: Client): Promise<number> => {
  const lists = ['queued', 'processing'].map(async status => {
    const { body } = await client.send<{ data: object[] }>(`/v1/runs?status=${status}&limit=100`)
    return body.data.length
  })
  const [queued = 0, processing = 0] = await Promise.all(lists)
  return queued + processing
}

/** Compares a run with its expected outcome in the log and at the vendor. */
const findFaults = ({ runId, step, isSync, deaths }: Victim, audit: Audit, tally: Tally | undefined): string[] => {
  const { end, errorCode, chargedMicros } = allRuns(audit).get(runId) ?? {}
  // A recorded job is polled and never submitted again; an unrecorded one is submitted again.
  const isRecorded = step === 'polled' || step === 'copied'
  const expected = isSync
    ? { end: 'failed', errorCode: 'interrupted', chargedMicros: 0, submissions: 1, jobs: step === 'asked' ? 0 : 1 }
    : {
        end: 'completed',
        errorCode: undefined,
        chargedMicros: PRICE_MICROS,
        submissions: isRecorded ? 1 : 1 + deaths,
        jobs: 1,
      }
  const found = { end, errorCode, chargedMicros, submissions: tally?.submissions, jobs: tally?.jobs }
  if (JSON.stringify(found) === JSON.stringify(expected)) return []
  const kind = isSync ? 'a sync run' : 'a run'
  return [
    `${kind} that died ${deaths} times when ${step} has ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`,
  ]
}

const findUnknownRuns = (victims: Victim[], audit: Audit): string[] => {
  const known = new Set(victims.map(({ runId }) => runId))
  return [...allRuns(audit).keys()].filter(runId => !known.has(runId)).map(runId => `${runId} was not requested`)
}

const main = async () => {
  const { values } = parseArgs({ options: { kills: { type: 'string' }, runs: { type: 'string' } } })
  const { kills = '2', runs = '5' } = values
  const report = await asyncCrash({ kills: Number(kills), runs: Number(runs) }, console.log)
  console.log(`${report.runs} runs lost a process or more`)
  for (const fault of report.faults) console.error(fault)
  if (report.faults.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
