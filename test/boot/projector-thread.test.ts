import t, { type Test } from 'tap'
import type { Position } from '../../schemas/recorded.ts'
import { Signal } from '../../src/adapters/event-log/signal.ts'
import { openCore, type TestOverrides } from '../../src/boot/core.ts'
import { ProjectorThread, projectorProgram } from '../../src/boot/projector-thread.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { Damaged } from '../../src/ports/faults.ts'
import type { Checkpoint } from '../../src/ports/view-store.ts'
import { grantCredits } from '../support/account-samples.ts'
import { silentLogger } from '../support/engine.ts'
import { openAccount } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const programOf = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`)

const openThreaded = async (t: Test, folder: string, overrides: TestOverrides = {}) => {
  const core = await openCore(readConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent' }), {
    ...overrides,
    logger: silentLogger,
    projectorThread: true,
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= core.close())
  t.teardown(close)
  return { core, close }
}

t.test('the thread keeps the views up to date, and a start waits until they are', async t => {
  const folder = await temporaryFolder(t)
  const { core, close } = await openThreaded(t, folder)
  const { accountId } = await openAccount({ core, url: '' }, { credits: 5 })
  t.match(await core.reads.getOwn(accountId, 'balance', accountId), { balanceMicros: 5_000_000 })
  await close()
  const again = await openThreaded(t, folder)
  t.equal(again.core.progress.position, await again.core.log.head())
})

/** The projector's thread without timers, so that only messages end its waits for the log and for more events. */
const untimed = programOf(`
  const { setTimeout } = globalThis
  globalThis.setTimeout = callback => setTimeout(callback, 2 ** 31 - 1).unref()
  await import(${JSON.stringify(projectorProgram)})`)

t.test('an append wakes the thread, and a waiting reader ends its wait for more events', async t => {
  const { core } = await openThreaded(t, await temporaryFolder(t), { projectorProgram: untimed })
  const { accountId } = await openAccount({ core, url: '' }, { credits: 5 })
  const head = await core.log.head()
  await until('the views have passed the append', () => core.progress.position >= head)
  await core.accounts.execute({ kind: 'operator', name: 'test' }, accountId, grantCredits(1))
  t.match(await core.reads.getOwn(accountId, 'balance', accountId), { balanceMicros: 6_000_000 })
})

t.test('a forged row that the thread finds is reported, and the views are rebuilt', async t => {
  const { core } = await openThreaded(t, await temporaryFolder(t))
  const { accountId } = await openAccount({ core, url: '' }, { credits: 5 })
  const checkpoint = (await core.views.checkpoint()) as Checkpoint
  const forged = { address: `rows/balance/${accountId}`, value: '{"balanceMicros":9,"position":1,"mac":"forged"}' }
  await core.views.replaceCells([forged], checkpoint, checkpoint)
  await core.accounts.execute({ kind: 'operator', name: 'test' }, accountId, grantCredits(1))
  await until('the views are rebuilt', async () => {
    const row = await core.views.get<{ balanceMicros: number }>('balance', accountId)
    return row?.balanceMicros === 6_000_000
  })
})

/** Starts a thread that runs a program of the test. `exits` records how the process would have ended. */
const startProgram = (t: Test, program: string) => {
  const exits = t.capture(process, 'exit', () => undefined as never)
  const thread = new ProjectorThread({
    order: {} as never,
    progress: { awaited: { subscribe: () => ({ unsubscribe: () => undefined }) } } as never,
    appended: new Signal<Position>(),
    onForged: () => undefined,
    logger: silentLogger,
    program: programOf(program),
  })
  return { started: thread.start(), exits }
}

t.test('a failed start is reported', async t => {
  const failing = `throw Object.assign(new Error('the log is torn'), { name: 'Damaged' })`
  await t.rejects(startProgram(t, failing).started, new Damaged('the log is torn'))
})

for (const [how, end] of [
  ['fails', `throw new Error('a bug')`],
  ['exits', 'process.exit(0)'],
])
  t.test(`the process ends when the thread ${how}`, async t => {
    const { started, exits } = startProgram(
      t,
      `import { parentPort } from 'node:worker_threads'
       parentPort.postMessage('started')
       setTimeout(() => { ${end} }, 10)`,
    )
    await started
    t.same(await until('the process ends', () => exits.args()[0]), [1])
  })
