import t, { type Test } from 'tap'
import { parseCsv } from '../../support/csv.ts'
import { operatorOf } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { startWithCosts } from '../../support/vendor-log.ts'

const folder = await temporaryFolder(t)
await startWithCosts(t, { DATA_DIR: folder })
const operator = operatorOf(folder)

/** Runs a command that cannot look, and returns its error message. */
const unable = async (t: Test, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await operator.run(...args)
  t.same({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
  return stderr
}

t.test('providers margin: shows what runs earned and cost by month, family and provider', async t => {
  t.match(await operator.json(t, 'providers', 'margin'), [
    {
      ...{ family: 'vendor', provider: 'vendor', runs: 2, failed: 1, unknown_costs: 1, margin_usd: null },
      ...{ credits_charged: '2.000000', credits_refunded: '1.000000', costs: { USD: '8.123456' } },
    },
  ])
  t.match(await operator.json(t, 'providers', 'margin'), [{ below_cost: true }])
  const text = await operator.text(t, 'providers', 'margin', '--from', '2020-01-01')
  t.match(text, /^Warning: in 2\d{3}-\d\d, vendor at vendor earned less than it cost; see MARK_UP\.$/m)
  t.match(text, /vendor +vendor +2 +1 +2\.000000 +1\.000000 +8\.123456 USD +1 +unknown/)
  t.match(await operator.text(t, 'providers', 'margin', '--to', '2020-01-01'), /No runs ended in this period/)
  t.match(await unable(t, 'providers', 'margin', '--from', 'soon'), /--from must be a date/)
  const backwards = ['--from', '2026-02-01', '--to', '2026-01-01']
  t.match(await unable(t, 'providers', 'margin', ...backwards), /--to must be later than --from/)
})

t.test('providers statement: lists the runs on a provider’s bill in each form', async t => {
  const statement = await operator.json(t, 'providers', 'statement', 'vendor')
  t.match(statement, {
    lines: [
      {
        ...{ outcome: 'completed', model: 'test', version: 'v7', units: { seconds: 1.5 }, job_id: null },
        ...{ amount: 8.123456, currency: 'USD', source: 'reported', run_id: /^run_/ },
      },
      { outcome: 'failed', amount: null, currency: null, source: 'unknown' },
    ],
    ...{ runs: 2, unknown_costs: 1, totals: { USD: '8.123456' } },
  })
  const [completed, failed] = parseCsv(await operator.text(t, 'providers', 'statement', 'vendor', '--format', 'csv'))
  t.match(completed, { outcome: 'completed', units: 'seconds 1.5', amount: '8.123456', currency: 'USD' })
  t.match(failed, { outcome: 'failed', amount: '', currency: '', source: 'unknown' })
  const text = await operator.text(t, 'providers', 'statement', 'vendor')
  t.match(text, /8\.123456 USD/)
  t.match(text, /2 runs: 8\.123456 USD; the cost of 1 run is unknown\./)
  t.match(await operator.text(t, 'providers', 'statement', 'fal'), /No run in this period has a cost at fal\./)
  t.match(await unable(t, 'providers', 'statement', 'No Such'), /must have a name such as openai/)
})

t.test('audit trial-balance: shows what providers are owed', async t => {
  const text = await operator.text(t, 'audit', 'trial-balance')
  t.match(text, /expense +vendor +8\.123456 +USD\n.*owed to provider +vendor +-8\.123456 +USD/)
  t.match(text, /The cost of 1 run is unknown\./)
})
