import t from 'tap'
import type { Run, RunList } from '../../schemas/api/run.ts'
import { sandbox } from '../support/client.ts'
import { filesWith } from '../support/folder-search.ts'
import { auditFolder } from '../support/ledger.ts'
import { openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

t.setTimeout(120_000)

/** A dead process's run is checked 10 s after its start, and its lease ends after 15 s. */
const ENDS = { pollMs: 200, maxWaitMs: 60_000 }

t.test('a run that is not kept and loses its process fails as interrupted and is refunded', async t => {
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, { tester: true })
  const first = await startServiceProcess(t, folder)
  const request = { ...sandbox({ prompt: 'marker-prompt', delay_ms: 60_000 }), metadata: { order: 'marker-metadata' } }
  const key = { 'Idempotency-Key': 'once' }
  const lost = customer.at(first.url).run({ ...request, store: false }, key)
  lost.catch(() => undefined)
  const runs = async (url: string) => (await customer.at(url).send<RunList>('/v1/runs')).body.data
  await until('the run works', async () => (await runs(first.url))[0]?.status === 'processing')
  t.same(await filesWith(folder, 'marker-'), [])
  await first.end('SIGKILL')
  await t.rejects(lost)

  const second = await startServiceProcess(t, folder)
  const again = customer.at(second.url)
  await until('the run ends', async () => (await runs(second.url))[0]?.status === 'failed', ENDS)
  const [{ run_id }] = (await runs(second.url)) as [Run]
  t.match((await again.send(`/v1/runs/${run_id}`)).body, {
    ...{ store: false, error: { code: 'interrupted', message: 'The service stopped while it worked on this run.' } },
    ...{ credits_charged: 1, credits_refunded: 1 },
  })
  t.equal(await again.balance(), 100)
  t.match((await again.run({ ...request, store: false }, key)).body, { run_id, status: 'failed' })
  await second.end('SIGTERM')
  t.same(await filesWith(folder, 'marker-'), [])
  t.same((await auditFolder(folder)).faults, [])
})
