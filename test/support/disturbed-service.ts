import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { toMicros } from '../../src/domain/money.ts'
import { compareViews } from '../../src/engine/views/rebuild.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { caughtUp } from './caught-up.ts'
import { silentLogger } from './engine.ts'
import { type Audit, allRuns, auditLog } from './ledger.ts'
import { PatientAccount, patientProvider } from './patient-account.ts'
import { newSealKeyPem } from './seal-key-pem.ts'
import { openAccount, type Service, startService } from './service.ts'
import { until } from './until.ts'
import { rebuildOf } from './views.ts'

/** Conditions that a test can await while clients request runs and balances. */
export interface Load {
  /** Resolves when each account has a run that was acknowledged after this moment. */
  runsGoOn(): Promise<void>
  /** Adds an account that requests its first run. Resolves when the run is in the log, answered or not. */
  join(): Promise<void>
  /** Resolves when the last added account has received a 503. */
  turnedAway(): Promise<void>
}

export interface Disturbance {
  /** The log's address for the service, and the log itself. */
  url: string
  stored: EventLog
  disturb(load: Load): Promise<void>
}

const CREDITS = 1_000_000

/** Clients per account: some are alone, and some share appends. */
const CLIENTS = [1, 1, 2, 6]

/** How long the load runs before the disturbance, and after runs resume. */
const BEFORE_MS = 300
const AFTER_MS = 300

/** The test's own time limit, not one of the service. */
const GIVEN_UP_MS = 30_000

/**
 * Starts a service under constant load, disturbs the servers of its log, and checks the invariants afterwards.
 * Resolves to the accounts.
 */
export const disturbService = async (t: Test, { url, stored, disturb }: Disturbance): Promise<PatientAccount[]> => {
  const service = await startService(t, {
    logger: { ...silentLogger, error: (facts, text) => text === 'request failed unexpectedly' && t.comment(facts) },
    providers: { sandbox: patientProvider },
    environment: { EVENT_STORE_URL: url, MASTER_SECRET: 'm'.repeat(64), SEAL_KEY: newSealKeyPem() },
  })
  const open = () => openAccount(service, { credits: CREDITS, tester: true })
  const accounts: PatientAccount[] = []
  const stop = new AbortController()
  const working: Promise<void>[] = []
  const begin = (account: PatientAccount, clients: number) => {
    accounts.push(account)
    for (let client = 0; client < clients; client++) working.push(account.work(stop.signal))
  }
  const [newcomer, ...customers] = await Promise.all([open(), ...CLIENTS.map(open)])
  for (const [index, customer] of customers.entries())
    begin(new PatientAccount(customer, CREDITS), Number(CLIENTS[index]))
  const join = async () => {
    begin(new PatientAccount(newcomer, CREDITS), 1)
    const findRuns = async () => (await auditLog(stored)).ledgers.get(newcomer.accountId)?.runs.size
    await until('the first run of the new account is in the log', findRuns, { pollMs: 20 })
  }
  await delay(BEFORE_MS)
  const sinceMs = performance.now()
  await disturb({ join, turnedAway: () => turnedAway(accounts), runsGoOn: () => runsGoOn(t, accounts) })
  await delay(AFTER_MS)
  stop.abort()
  await Promise.all(working)
  // Includes the run that each client was waiting for.
  await Promise.all(accounts.map(account => account.repeat(sinceMs)))

  t.same(
    accounts.flatMap(({ faults }) => faults),
    [],
    `all responses are valid: ${JSON.stringify(accounts.map(({ statuses }) => statuses))}`,
  )
  const audit = await allEnded(stored)
  t.same(audit.faults, [], 'the log is intact; each run has one debit, and one refund if it failed')
  t.same(findUnkept(audit, accounts), [], 'each requested run exists once and has ended')
  await findDifferentViews(t, service)
  for (const { customer } of accounts)
    t.equal(toMicros(await customer.balance()), audit.ledgers.get(customer.accountId)?.balanceMicros)
  return accounts
}

const turnedAway = async (accounts: PatientAccount[]) => {
  if (!(await holdsSoon(() => accounts.at(-1)?.statuses[503] !== undefined))) throw new Error('no request got a 503')
}

const runsGoOn = async (t: Test, accounts: PatientAccount[]) => {
  const fromMs = performance.now()
  const haveResumed = () => accounts.every(({ acknowledged }) => (acknowledged.at(-1)?.acknowledgedAtMs ?? 0) > fromMs)
  t.ok(await holdsSoon(haveResumed), 'each account has runs again')
}

/** Whether a condition holds before the time limit. */
export const holdsSoon = async (holds: () => boolean): Promise<boolean> => {
  const endMs = performance.now() + GIVEN_UP_MS
  while (!holds() && performance.now() < endMs) await delay(20)
  return holds()
}

/** Audits the log once no run is open. Ends runs first whose outcome could not be written. */
const allEnded = async (stored: EventLog): Promise<Audit> => {
  const endMs = performance.now() + GIVEN_UP_MS
  while (true) {
    const audit = await auditLog(stored)
    const open = [...allRuns(audit).values()].filter(({ end }) => !end)
    if (open.length === 0 || performance.now() > endMs) return audit
    await delay(200)
  }
}

/** The log must match exactly what clients were told. */
const findUnkept = ({ ledgers }: Audit, accounts: PatientAccount[]): string[] =>
  accounts.flatMap(({ customer: { accountId }, acknowledged }) => {
    const logged = ledgers.get(accountId)?.runs ?? new Map<string, never>()
    const known = new Set(acknowledged.map(({ runId }) => runId))
    const unknown = [...logged.keys()].filter(runId => !known.has(runId)).map(runId => `no client was told of ${runId}`)
    const unkept = acknowledged.flatMap(({ runId, key }) => {
      const run = logged.get(runId)
      if (!run) return [`${runId} is not in the log`]
      if (!run.end) return [`${runId} has not ended`]
      return run.idempotencyKey === key ? [] : [`${runId} is the run of another request`]
    })
    return [
      ...unknown,
      ...unkept,
      ...(known.size === acknowledged.length ? [] : ['two requests were answered with one run']),
    ]
  })

const findDifferentViews = async (t: Test, { core }: Service) => {
  await caughtUp(core)
  const { scratch, discard } = await core.openScratch()
  t.teardown(discard)
  const { changes } = await compareViews(rebuildOf(core.log, core.views), scratch)
  t.same(
    changes.map(({ address }) => address),
    [],
    'the views match the log',
  )
}
