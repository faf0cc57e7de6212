import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { projections } from '../../projections/all.ts'
import type { Run } from '../../schemas/api/run.ts'
import { openLmdbViewStore } from '../../src/adapters/view-store/lmdb.ts'
import { verifyLog } from '../../src/audit/verify/verify.ts'
import { openScratchViews } from '../../src/boot/stores.ts'
import { ProjectionSet } from '../../src/engine/views/project.ts'
import type { Checkpoint } from '../../src/ports/view-store.ts'
import { auditFolder } from '../support/ledger.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { openAccounts, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

/** What the version that wrote a folder said of it. */
interface Expected {
  writtenAt: string
  apiKey: string
  credits: number
  runs: Partial<Run>[]
  upload: { id: string; path: string; sizeBytes: number }
}

for (const format of [1, 2, 3]) {
  const fixture = `test/fixtures/format-${format}`
  t.test(`a data folder in format ${format} opens, goes on, and opens again`, async t => {
    const { writtenAt, apiKey, credits, runs, upload }: Expected = JSON.parse(
      await readFile(`${fixture}/folder.json`, 'utf8'),
    )
    const folder = await temporaryFolder(t)
    await promisify(execFile)('tar', ['-xzf', `${fixture}/folder.tgz`, '-C', folder])
    // While the idempotency keys still count, and the upload is kept.
    const clock = () => new ManualClock(Date.parse(writtenAt) + 60_000)

    const service = await startService(t, { folder, clock: clock() })
    const customer = service.client(apiKey)
    await until('the views are rebuilt', async () => (await customer.send('/v1/balance')).status === 200)
    t.equal(await customer.balance(), credits)
    for (const run of runs) t.match((await customer.send(`/v1/runs/${run.run_id}`)).body, run)
    const [first] = runs
    const request = { model: 'claude-haiku-4-5', input: { prompt: 'Why is a ledger append-only?' } }
    t.match((await customer.run(request, { 'Idempotency-Key': 'first' })).body, { run_id: first?.run_id })
    t.match(await customer.send(`/v1/uploads/${upload.id}`), { status: 200, body: { size_bytes: upload.sizeBytes } })
    const file = await fetch(service.url + upload.path)
    t.equal((await file.arrayBuffer()).byteLength, upload.sizeBytes)
    const fresh = await customer.run(request)
    t.match(fresh, { status: 200, body: { status: 'completed' } })
    const left = await customer.balance()
    t.ok(left < credits)
    await service.stop()

    const again = await startService(t, { folder, clock: clock() })
    t.equal(await again.client(apiKey).balance(), left)
    t.match(await again.client(apiKey).send(`/v1/runs/${fresh.body.run_id}`), { body: { status: 'completed' } })
    t.match(await verifyLog(again.core.log, { isDense: true }), { faults: [] })
    await again.stop()
    t.same((await auditFolder(folder)).faults, [])
  })
}

const VIEWS = Object.keys(new ProjectionSet(projections).versions)

/** Makes a view of a folder one of another version. */
const age = async (folder: string, view: string) => {
  const views = openLmdbViewStore(join(folder, 'views'))
  const from = (await views.checkpoint()) as Checkpoint
  const to = { ...from, versions: { ...from.versions, [view]: 'of another version' } }
  await views.commit({ from, to, rows: [], entries: [] })
  await views.close()
}

t.test('a service starts while any view of another version is rebuilt', async t => {
  for (const view of isLong ? VIEWS : ['usage'])
    await t.test(view, async t => {
      const folder = await temporaryFolder(t)
      const [{ apiKey }] = await openAccounts(folder, {})
      await age(folder, view)
      let release = () => undefined as unknown
      const released = new Promise(resolve => (release = () => resolve(undefined)))
      const service = await startService(t, { folder, openScratch: () => released.then(() => openScratchViews()) })
      t.teardown(() => release())
      const customer = service.client(apiKey)
      if (view === 'usage') {
        t.equal((await customer.send('/v1/usage')).status, 503)
        const run = await customer.run({ model: 'claude-haiku-4-5', input: { prompt: 'Why?' } })
        t.match(run, { status: 200, body: { status: 'completed' } })
        t.ok((await customer.balance()) < 100)
      }
      release()
      await until('the view is rebuilt', async () => service.core.progress.isReadable(view))
      t.match(await customer.send('/v1/usage'), { status: 200 })
      await service.stop()
      t.same((await auditFolder(folder)).faults, [])
    })
})
