import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { OutputKeys } from '../../../src/services/files/output-keys.ts'
import { picture, sandbox } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import { instantProvider, openAccount, type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

t.test('an outcome is recorded once the log accepts writes again', async t => {
  const log = await openLog(t)
  let refusals = 2
  const append: EventLog['append'] = async (stream, events, expectedRevision) => {
    const isOutcome = events.some(({ type }) => type === 'RunCompleted')
    if (!isOutcome || refusals === 0) return log.append(stream, events, expectedRevision)
    refusals -= 1
    throw new Unavailable('the disk is full')
  }
  const service = await startService(t, { log: { ...log, append }, providers: { sandbox: instantProvider } })
  const customer = await openAccount(service, { tester: true })
  t.match((await customer.run(sandbox())).body, { status: 'completed' })
  t.equal(refusals, 0)
  t.equal(await customer.balance(), 99)
})

t.test('a run ends with whatever version its provider states', async t => {
  const versions = ['\ud800', `${'x'.repeat(199)}😀`]
  const text = { kind: 'done' as const, media: [], text: 'Hi.' }
  const submit = async () => ({ ...text, work: { version: String(versions.shift()) } })
  const log = await openLog(t)
  const service = await startService(t, { log, providers: { sandbox: { ...instantProvider, submit } } })
  const customer = await openAccount(service, { tester: true })
  for (const version of ['\ufffd', `${'x'.repeat(199)}\ufffd`]) {
    t.match((await customer.run(sandbox())).body, { status: 'completed' })
    const events = (await collect(log.readStream(`account-${customer.accountId}`, 0))).flat()
    t.match(events.filter(({ type }) => type === 'RunCompleted').at(-1)?.data, { upstream: { version } })
  }
})

t.test(
  'a process that comes too late to end a run keeps only the files that the end names and are not deleted',
  async t => {
    const folder = await temporaryFolder(t)
    /** How another process ends the run while the provider works. */
    let endsOf = (_: RunId): AccountCommand[] => []
    const execute = async ({ core }: Service, accountId: AccountId, commands: AccountCommand[]) => {
      for (const command of commands) await core.accounts.execute({ kind: 'reactor' }, accountId, command)
    }
    const submit: Provider['submit'] = async (job, signal) => {
      await execute(service, job.accountId, endsOf(job.runId))
      return instantProvider.submit(job, signal)
    }
    const service = await startService(t, { folder, providers: { sandbox: { ...instantProvider, submit } } })
    const customer = await openAccount(service)
    const keys = new OutputKeys(service.core.masterSecret)
    const complete = (runId: RunId, index: number): AccountCommand => {
      const facts = { mimeType: 'image/png', sizeBytes: 1, sha256: 'a'.repeat(64), c2pa: 'absent' } as const
      const artifacts = [{ objectKey: keys.keyOf(runId, index, 'image/png'), ...facts }]
      return { type: 'CompleteRun', runId, output: { artifacts, willDeleteAt: '2100-01-01T00:00:00.000Z' } }
    }
    const remove = (runId: RunId): AccountCommand => ({ type: 'RecordOutputDeletion', runId })
    const error = { code: 'interrupted', message: 'The run was lost.' } as const
    const cases: [string, number, typeof endsOf][] = [
      ['named', 1, runId => [complete(runId, 0)]],
      ['named and deleted', 0, runId => [complete(runId, 0), remove(runId)]],
      ['not named', 0, runId => [complete(runId, 1)]],
      ['of a failed run', 0, runId => [{ type: 'FailRun', runId, error }]],
    ]
    const filesOf = async (runId: RunId) => {
      const names = await readdir(join(folder, 'objects', 'outputs')).catch(() => [])
      return names.filter(name => keys.allOf(runId).includes(`outputs/${name}`))
    }
    for (const [file, count, ends] of cases) {
      endsOf = ends
      const { body } = await customer.run(picture)
      t.equal((await filesOf(body.run_id)).length, count, file)
    }
  },
)
