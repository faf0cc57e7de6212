import t from 'tap'
import type { AccountId } from '../../schemas/primitives.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { accountId, cancelRun, openAccount, queueRun, runId } from '../support/account-samples.ts'
import { caughtUp } from '../support/caught-up.ts'
import { cellsOf, forgeCells } from '../support/dump.ts'
import { instantProvider, openFolder, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

/** More runs than one provider has slots. */
const REPLAYED = 70

t.test('replayed rows of ended runs do not keep a queued run from starting', async t => {
  const folder = await temporaryFolder(t)
  const core = await openFolder(folder)
  const execute = (account: AccountId, ...commands: AccountCommand[]) =>
    Promise.all(commands.map(command => core.accounts.execute({ kind: 'service' }, account, command)))
  const runs = Array.from({ length: REPLAYED }, (_, index) => index + 2)
  await execute(accountId(2), openAccount({ account: 2, welcome: 10 * REPLAYED }))
  await execute(accountId(2), ...runs.map(run => queueRun({ run })))
  await caughtUp(core)
  const rows = [...(await cellsOf(core.views))].filter(([address]) => /^(rows|index)\/due/.test(address))
  t.equal(rows.length, 2 * REPLAYED)
  await execute(accountId(2), ...runs.map(cancelRun))
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
})
