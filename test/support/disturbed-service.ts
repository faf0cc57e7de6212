import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { openScratchViews } from '../../src/boot/stores.ts'
import { toMicros } from '../../src/domain/money.ts'
import { compareViews } from '../../src/engine/views/rebuild.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { caughtUp } from './caught-up.ts'
import { silentLogger } from './engine.ts'
import { type Audit, allRuns, auditLog } from './ledger.ts'
import { PatientAccount, patientProvider } from './patient-account.ts'
import { openAccount, type Service, startService } from './service.ts'

/** What a test can wait for while clients ask for runs and balances. */
export interface Load {
  /** Resolves when each account has a run that was acknowledged after this moment. */
  runsGoOn(): Promise<void>
  /** One more account asks for its first run. Resolves when that is in the log, answered or not. */
  join(): Promise<void>
  /** Resolves when the account that joined last has been answered with 503. */
  turnedAway(): Promise<void>
}

export interface Disturbance {
  /** Where the service finds its log, and that log itself. */
  url: string
  stored: EventLog
  disturb(load: Load): Promise<void>
}

const CREDITS = 1_000_000

/** So many clients share each account: some are alone, and some wait for one append together. */
const CLIENTS = [1, 1, 2, 6]

/** How long the load goes on before anything happens, and after the runs go on. */
const BEFORE_MS = 300
const AFTER_MS = 300

/** What has not come by then does not come. This is no limit of the service's. */
const GIVEN_UP_MS = 30_000

/**
 * Starts a service with clients that ask it all the time, has something happen to the servers of its log, and checks what must
 * hold afterwards. Resolves to the accounts.
 */
export const disturbService = async (t: Test, { url, stored, disturb }: Disturbance): Promise<PatientAccount[]> => {
  const service = await startService(t, {
    logger: { ...silentLogger, error: (facts, text) => text === 'a request broke' && t.comment(facts) },
    providers: { sandbox: patientProvider },
    environment: { EVENT_STORE_URL: url, MASTER_SECRET: 'm'.repeat(64) },
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
    while (!(await auditLog(stored)).ledgers.get(newcomer.accountId)?.runs.size) await delay(20)
  }
  await delay(BEFORE_MS)
  const sinceMs = performance.now()
  await disturb({ join, turnedAway: () => turnedAway(accounts), runsGoOn: () => runsGoOn(t, accounts) })
  await delay(AFTER_MS)
  stop.abort()
  await Promise.all(working)
  // The run that each client was waiting for is among them.
  await Promise.all(accounts.map(account => account.repeat(sinceMs)))

  t.same(
    accounts.flatMap(({ faults }) => faults),
    [],
    `all answers are right: ${JSON.stringify(accounts.map(({ statuses }) => statuses))}`,
  )
  const audit = await allEnded(stored)
  t.same(audit.faults, [], 'the log is in order, and each run in it has one debit, and one refund where it failed')
  t.same(findUnkept(audit, accounts), [], 'each run that was asked for is there once, and has ended')
  await findDifferentViews(t, service)
  for (const { customer } of accounts)
    t.equal(toMicros(await customer.balance()), audit.ledgers.get(customer.accountId)?.balanceMicros)
  return accounts
}

const turnedAway = async (accounts: PatientAccount[]) => {
  if (!(await holdsSoon(() => accounts.at(-1)?.statuses[503] !== undefined))) throw new Error('nobody is turned away')
}

const runsGoOn = async (t: Test, accounts: PatientAccount[]) => {
  const fromMs = performance.now()
  const goOn = () => accounts.every(({ told }) => (told.at(-1)?.toldAtMs ?? 0) > fromMs)
  t.ok(await holdsSoon(goOn), 'each account has runs again')
}

/** Whether something holds before it is given up. */
export const holdsSoon = async (holds: () => boolean): Promise<boolean> => {
  const endMs = performance.now() + GIVEN_UP_MS
  while (!holds() && performance.now() < endMs) await delay(20)
  return holds()
}

/** The log itself, when no run in it is open any more. Those whose end could not be written are brought to it afterwards. */
const allEnded = async (stored: EventLog): Promise<Audit> => {
  const endMs = performance.now() + GIVEN_UP_MS
  while (true) {
    const audit = await auditLog(stored)
    const open = [...allRuns(audit).values()].filter(({ end }) => !end)
    if (open.length === 0 || performance.now() > endMs) return audit
    await delay(200)
  }
}

/** What the log says must be what the clients were told, and nothing else. */
const findUnkept = ({ ledgers }: Audit, accounts: PatientAccount[]): string[] =>
  accounts.flatMap(({ customer: { accountId }, told }) => {
    const logged = ledgers.get(accountId)?.runs ?? new Map<string, never>()
    const known = new Set(told.map(({ runId }) => runId))
    const unknown = [...logged.keys()].filter(runId => !known.has(runId)).map(runId => `nobody was told of ${runId}`)
    const unkept = told.flatMap(({ runId, key }) => {
      const run = logged.get(runId)
      if (!run) return [`${runId} is not in the log`]
      if (!run.end) return [`${runId} has not ended`]
      return run.idempotencyKey === key ? [] : [`${runId} is the run of another request`]
    })
    return [...unknown, ...unkept, ...(known.size === told.length ? [] : ['two requests were told of one run'])]
  })

const findDifferentViews = async (t: Test, { core }: Service) => {
  await caughtUp(core)
  const { scratch, discard } = await openScratchViews()
  t.teardown(discard)
  const { changes } = await compareViews(core.log, core.views, scratch)
  t.same(
    changes.map(({ address }) => address),
    [],
    'the views are what the log says',
  )
}
