import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Client } from '../support/client.ts'
import { type Audit, allRuns, auditFolder } from '../support/ledger.ts'
import { openAccount, openFolder } from '../support/service.ts'
import { ScriptProcess } from '../support/service-process.ts'
import type { Fault, Step, Tally } from '../support/vendor.ts'
import { offer, order, syncOrder, vendorFamily } from '../support/vendor-families.ts'

// Kills a service at each step of its async runs, and then looks at what became of them. By hand:
//   node --import=tsx test/simulation/async-crash.ts --kills 5 --runs 20

/** A run of a dead process is looked for 10 s after its start, and its lease ends after 15 s; the rest is for the doing. */
const LONGEST_WATCH_MS = 10_000 + 15_000 + 20_000

const PRICE_MICROS = 1_000_000

/**
 * Where a run is when its process dies. `asked`: the provider has heard of it, but not taken it; `taken`: it has, but its
 * answer was not recorded; `polled`: it is being asked after; `copied`: it is done, but that was not recorded.
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
  /** How many processes die while they hold it at its step. */
  deaths: number
}

/** Kills a service so many times while it has so many runs at each step. The faults are empty when each ended as it must. */
export const asyncCrash = async (
  { kills, runs }: { kills: number; runs: number },
  progress: (text: string) => void = () => undefined,
): Promise<AsyncCrashReport> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-async-crash-'))
  const vendor = new ScriptProcess('test/support/vendor-process.ts', [], {})
  let service: ScriptProcess | undefined
  try {
    const [vendorUrl] = await vendor.until(/http:\S+/)
    const client = await openCustomer(folder)
    const start = async (): Promise<Client> => {
      const env = { DATA_DIR: folder, PORT: '0', VENDOR_URL: vendorUrl, ALLOW_PRIVATE_WEBHOOKS: 'true' }
      service = new ScriptProcess('test/support/vendor-service-process.ts', [], env)
      const [, url = ''] = await service.until(/"url":"([^"]+)".*"msg":"listening"/)
      return client.at(url)
    }

    const victims = await ask(await start(), kills, runs)
    for (let kill = 1; kill <= kills; kill++) {
      const dying = victims.filter(({ deaths }) => deaths >= kill)
      await until(`${dying.length} runs are held for the ${kill}. time`, async () => {
        const tallies = await readTallies(vendorUrl)
        return dying.every(({ runId, step }) => tallies[runId]?.held[step] === kill)
      })
      await service?.end('SIGKILL')
      progress(`kill ${kill} of ${kills}: ${dying.length} runs were in flight`)
      const next = await start()
      if (kill === kills) await until('all runs have ended', () => haveEnded(next))
    }
    const ended = await service?.end('SIGTERM')
    const faults = ended?.code === 0 ? [] : [`the last stop ended with ${ended?.code}: ${ended?.stderr}`]
    const audit = await auditFolder(folder)
    const tallies = await readTallies(vendorUrl)
    const wrong = victims.flatMap(victim => findFaults(victim, audit, tallies[victim.runId]))
    return { runs: victims.length, faults: [...faults, ...audit.faults, ...wrong, ...findStrangers(victims, audit)] }
  } finally {
    await Promise.all([service?.end('SIGKILL'), vendor.end('SIGKILL')])
    await rm(folder, { recursive: true, force: true })
  }
}

/** An account on a folder whose catalog has the vendor's family. */
const openCustomer = async (folder: string): Promise<Client> => {
  const core = await openFolder(folder)
  await offer(core, vendorFamily())
  const customer = await openAccount({ core, url: 'http://localhost' }, { credits: 10_000 })
  await core.close()
  return customer
}

/** Asks for runs that are held at each step as often as there are kills, or less; sync ones die once and for all. */
const ask = async (client: Client, kills: number, runs: number): Promise<Victim[]> => {
  const numbers = Array.from({ length: kills }, (_, index) => index + 1)
  const plans = steps.flatMap(step => [
    ...numbers.map(deaths => ({ step, deaths, isSync: false })),
    { step, deaths: 1, isSync: true },
  ])
  const asked = plans.flatMap(plan => Array.from({ length: runs }, () => plan))
  return Promise.all(
    asked.map(async plan => {
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

const haveEnded = async (client: Client): Promise<boolean> => {
  for (const status of ['queued', 'processing']) {
    const { body } = await client.send<{ data: object[]; has_more: boolean }>(`/v1/runs?status=${status}`)
    if (body.data.length > 0 || body.has_more) return false
  }
  return true
}

const until = async (what: string, holds: () => Promise<boolean>) => {
  const endMs = performance.now() + LONGEST_WATCH_MS
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`within ${LONGEST_WATCH_MS} ms it did not come true that ${what}`)
    await delay(100)
  }
}

/** What must have become of a run, on the log and at the vendor. */
const findFaults = ({ runId, step, isSync, deaths }: Victim, audit: Audit, tally: Tally | undefined): string[] => {
  const { end, errorCode, chargedMicros } = allRuns(audit).get(runId) ?? {}
  // A job that was recorded is asked after and never submitted again; without it the provider is asked once more.
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

const findStrangers = (victims: Victim[], audit: Audit): string[] => {
  const known = new Set(victims.map(({ runId }) => runId))
  return [...allRuns(audit).keys()].filter(runId => !known.has(runId)).map(runId => `nobody asked for ${runId}`)
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
