import { join } from 'node:path'
import t, { type Test } from 'tap'
import { accountIn } from '../../../schemas/events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import { openLmdbEventLog } from '../../../src/adapters/event-log/lmdb.ts'
import type { Core } from '../../../src/boot/core.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { Provider, ProviderOutcome } from '../../../src/ports/provider.ts'
import { AccountMailboxes } from '../../../src/services/accounts/account-mailboxes.ts'
import {
  accountId,
  cancelRun,
  openAccount,
  queueRun,
  type RunOptions,
  runId,
  startRun,
} from '../../support/account-samples.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { doneFor } from '../../support/done.ts'
import { cellsOf, forgeCells } from '../../support/dump.ts'
import { noSnapshots, silentLogger } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import {
  instantProvider,
  openFolder,
  openAccount as openServiceAccount,
  type Service,
  startService,
} from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

// A process takes over a run some seconds after its start.
t.setTimeout(120_000)

/** More runs than one provider has slots. */
const REPLAYED = 70

/** Executes commands that must all be accepted. */
const executeAll = async ({ accounts }: Core, account: AccountId, commands: AccountCommand[]) => {
  const outcomes = commands.map(command => accounts.execute({ kind: 'service' }, account, command))
  for (const outcome of await Promise.all(outcomes))
    if ('refuse' in outcome) throw new Error(`refused: ${outcome.refuse.code}`)
}

/** Resolves when another process can lease these runs. */
const untilUnleased = async ({ core }: Service, runs: RunId[]) => {
  const keys = runs.map(run => `run/${run}`)
  const nowMs = core.clock.nowMs()
  await until(
    'the runs are not leased',
    async () => (await core.views.lease(keys, 'another', nowMs, nowMs + 15_000)).length === runs.length,
  )
}

t.test('replayed rows of ended runs do not keep a queued run from starting', async t => {
  const folder = await temporaryFolder(t)
  const core = await openFolder(folder)
  const execute = (account: AccountId, ...commands: AccountCommand[]) => executeAll(core, account, commands)
  const runs = Array.from({ length: REPLAYED }, (_, index) => index + 2)
  await execute(accountId(2), openAccount({ account: 2, welcome: 10 * REPLAYED }))
  await execute(accountId(2), ...runs.map(run => queueRun({ run })))
  await caughtUp(core)
  const rows = [...(await cellsOf(core.views))].filter(([address]) => /^(rows|index)\/due/.test(address))
  t.equal(rows.length, 2 * REPLAYED)
  await execute(accountId(2), ...runs.map(run => cancelRun(run)))
  await execute(accountId(1), openAccount(), queueRun())
  await caughtUp(core)
  await forgeCells(
    core.views,
    rows.map(([address, value]) => ({ address, value })),
  )
  await core.close()

  const service = await startService(t, { folder, providers: { sandbox: instantProvider } })
  const isOpen = async (account: AccountId) => (await service.core.accounts.state(account)).openRuns.has(runId())
  t.ok(await isOpen(accountId(1)))
  await until('the run has ended', async () => !(await isOpen(accountId(1))))
  t.equal((await service.core.reads.getOwn(accountId(1), 'runs', `${accountId(1)}/${runId()}`))?.status, 'completed')
  await untilUnleased(service, [1, ...runs].map(runId))
})

/** A folder whose process was killed while it worked on runs. The clock stands where they were started. */
const leave = async (t: Test) => {
  const folder = await temporaryFolder(t)
  const clock = new ManualClock()
  const core = await openFolder(folder, { clock })
  const execute = (...commands: AccountCommand[]) => executeAll(core, accountId(), commands)
  await execute(openAccount())
  const start = (options: RunOptions & { run: number }, family = 'nano-banana-2') => {
    const command = queueRun(options)
    return execute({ ...command, run: { ...command.run, endpoint: `${family}-t2i` } }, startRun(options.run))
  }
  const close = async () => {
    await caughtUp(core)
    await core.close()
  }
  return { folder, clock, execute, start, close }
}

t.test('a started run is taken over after ten seconds and not before, even if it is cancelled', async t => {
  const { folder, clock, execute, start, close } = await leave(t)
  // Due work is looked for by endpoint, so the young runs are seen before the old ones.
  await start({ run: 1 }, 'second')
  await start({ run: 2 }, 'second')
  clock.advance(1)
  await start({ run: 3 }, 'first')
  await start({ run: 4 }, 'first')
  await execute(cancelRun(2), cancelRun(4))
  await close()

  clock.advance(9_999)
  const { core } = await startService(t, { folder, clock })
  const open = async () => [...(await core.accounts.state(accountId())).openRuns.keys()].sort()
  await until('the old runs have ended', async () => (await open()).length <= 2)
  t.same(await open(), [runId(3), runId(4)])
  clock.advance(1)
  await until('all runs have ended', async () => (await open()).length === 0)
})

t.test('a lost run whose time is up is not submitted again', async t => {
  const { folder, clock, start, close } = await leave(t)
  await start({ run: 1, mode: 'async' })
  await close()

  clock.advance(120_000)
  const submitted: RunId[] = []
  const submit: Provider['submit'] = async job => {
    submitted.push(job.runId)
    return { kind: 'done', media: [], text: 'done' }
  }
  const { core } = await startService(t, { folder, clock, providers: { sandbox: { ...instantProvider, submit } } })
  await until('the run has ended', async () => (await core.accounts.state(accountId())).openRuns.isEmpty())
  const run = await core.reads.getOwn(accountId(), 'runs', `${accountId()}/${runId()}`)
  t.equal(run?.error?.code, 'provider_timeout')
  t.same(submitted, [])
})

t.test('a lost run that cannot be taken over now is left to other processes', async t => {
  const { folder, clock, start, close } = await leave(t)
  await start({ run: 1 }, 'sandbox')
  await close()

  clock.advance(10_000)
  const log = openLmdbEventLog(join(folder, 'log'), error => t.fail(error.message))
  const readStream: EventLog['readStream'] = (stream, from) => {
    if (stream.startsWith('account-')) throw new Unavailable('the log does not answer')
    return log.readStream(stream, from)
  }
  const logged: string[] = []
  const logger = { ...silentLogger, error: (_: object, message: string) => void logged.push(message) }
  const service = await startService(t, { folder, clock, logger, log: { ...log, readStream } })
  await until('the attempt', () => logged.length > 0)
  await untilUnleased(service, [runId()])
})

interface LateStart {
  core: Core
  accountId: AccountId
  runId: RunId
  submitted: RunId[]
}

/** A service whose log confirms the first start of a run only after some time, and the views that it shares. */
const slowToStart = async (
  t: Test,
  lateMs: number,
  meanwhile: (start: LateStart) => Promise<unknown>,
  { model = 'sandbox', outcome = new Promise<ProviderOutcome>(() => undefined), prefer = 'wait=0' } = {},
) => {
  const folder = await temporaryFolder(t)
  const clock = new ManualClock()
  const submitted: RunId[] = []
  const provider: Provider = {
    ...instantProvider,
    deduplicates: true,
    submit: ({ runId }) => {
      submitted.push(runId)
      return outcome
    },
  }
  const log = openLmdbEventLog(join(folder, 'log'), error => t.fail(error.message))
  let isFirst = true
  const append: EventLog['append'] = async (stream, events, revision) => {
    const appended = await log.append(stream, events, revision)
    const started = events.find(({ type }) => type === 'RunStarted')?.data as { runId: RunId } | undefined
    if (started && isFirst) {
      isFirst = false
      clock.advance(lateMs)
      await meanwhile({
        core: service.core,
        accountId: accountIn(stream) as AccountId,
        runId: started.runId,
        submitted,
      })
    }
    return appended
  }
  // An account gets half of the permits: one for the start, and one to take the run over.
  const parts = { providers: { sandbox: provider }, limits: { permitsPerProvider: 4 } }
  const service = await startService(t, { folder, clock, log: { ...log, append }, ...parts })
  const customer = await openServiceAccount(service, { tester: true, credits: 1000 })
  const run = () => customer.run({ model, input: { prompt: 'hello' } }, { Prefer: prefer })
  return { service, clock, submitted, run, answer: run() }
}

t.test('a run whose start is confirmed late is leased before other processes count it as lost', async t => {
  let started: RunId | undefined
  const { service, clock, submitted } = await slowToStart(t, 7_000, async ({ runId }) => (started = runId))
  await until('the submission', () => submitted.length > 0)
  const nowMs = clock.nowMs()
  t.same(await service.core.views.lease([`run/${started}`], 'another', nowMs, nowMs + 15_000), [])
})

t.test('a run whose start is confirmed late is not submitted if another process has taken it over', async t => {
  const { answer, submitted } = await slowToStart(t, 11_000, ({ core, runId }) => {
    const nowMs = core.clock.nowMs()
    return core.views.lease([`run/${runId}`], 'another', nowMs, nowMs + 15_000)
  })
  t.match(await answer, { status: 202 })
  t.same(submitted, [])
})

t.test('a run whose start is confirmed late is not submitted if another process has ended it', async t => {
  const endRun = async ({ core, accountId, runId }: LateStart) => {
    const another = new AccountMailboxes({ ...core, snapshots: noSnapshots })
    const error = { code: 'interrupted', message: 'The run was lost.' } as const
    await another.execute({ kind: 'reactor' }, accountId, { type: 'FailRun', runId, error })
  }
  const { answer, submitted } = await slowToStart(t, 11_000, endRun, { prefer: 'wait=1' })
  t.match(await answer, { body: { status: 'failed' } })
  t.same(submitted, [])
})

t.test('a run that counts as lost while its start is confirmed is submitted once and frees its slot', async t => {
  let finish: (outcome: ProviderOutcome) => void = () => undefined
  const outcome = new Promise<ProviderOutcome>(resolve => {
    finish = resolve
  })
  let start: LateStart | undefined
  const takenOver = async (late: LateStart) => {
    await until('the run is taken over', () => late.submitted.length > 0)
    start = late
  }
  const { run, submitted } = await slowToStart(t, 11_000, takenOver, { model: 'gen-4-5', outcome })
  const { core, accountId } = await until('the start is confirmed', () => start)
  // A second submission would first take the lease, and then read the account. Both are done in order.
  for (let round = 0; round < 3; round++) {
    await core.views.lease(['another'], 'another', 0, 1)
    await core.accounts.currentState(accountId)
  }
  finish(doneFor({ endpoint: 'gen-4-5-t2v', input: {} }))
  await run()
  await until('another run is submitted', () => submitted.length > 1)
  t.not(submitted[0], submitted[1])
})
