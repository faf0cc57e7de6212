import t from 'tap'
import type { Charge } from '../../schemas/api/charge.ts'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import type { Run } from '../../schemas/api/run.ts'
import type { UsageList } from '../../schemas/api/usage.ts'
import { picture, sandbox } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'
import { call, connect, refusal } from './support.ts'

const service = await startService(t)
const operator = { kind: 'operator', name: 'test' } as const
const customer = await openAccount(service, { tester: true })
const client = await connect(t, customer, '2026-07-28')
const explain = async (run_id: string) => (await call<Charge>(client, 'explain_charge', { run_id })).body
const linesOf = async (runId: string) =>
  (await customer.send<LedgerList>('/v1/ledger')).body.data.filter(({ run_id }) => run_id === runId).toReversed()

t.test('a charge is explained by its price, its lines of the ledger, and its states', async t => {
  const input = { ...picture.input, num_images: 2, resolution: '2K', enable_web_search: true }
  const { body: run } = await call<Run>(client, 'run_model', { ...picture, input, label: 'spring campaign' })
  const { lines, request_id, ...charge } = await explain(run.run_id)
  t.same(charge, {
    object: 'charge',
    run_id: run.run_id,
    model: 'nano-banana-2',
    endpoint: 'nano-banana-2-t2i',
    label: 'spring campaign',
    status: 'completed',
    credits_charged: 31.5,
    credits_refunded: 0,
    credits_released: 0,
    credits: 31.5,
    price: [
      { step: 'base price', credits: '10' },
      { step: '× 2 (num_images)', credits: '20' },
      { step: '× 1.5 (resolution is 2K)', credits: '30' },
      { step: '+ 1.5 (enable_web_search is true: $0.015 at $0.01 a credit)', credits: '31.5' },
    ],
    catalog_revision: charge.catalog_revision,
    states: [
      { status: 'queued', at: run.created_at },
      { status: 'processing', at: run.started_at },
      { status: 'completed', at: run.completed_at },
    ],
  })
  t.same(lines, await linesOf(run.run_id))
  t.match(lines, [{ kind: 'debit', credits: -31.5, credits_balance: 68.5, key_id: customer.keyId }])
  t.match(request_id, /^[\w-]+$/)
})

t.test('a failed run shows why it was refunded', async t => {
  const { body: run } = await call<Run>(client, 'run_model', sandbox({ outcome: 'provider_error' }))
  const charge = await explain(run.run_id)
  t.match(charge, { status: 'failed', credits_charged: 1, credits_refunded: 1, credits: 0, error: run.error })
  t.match(charge.lines, [{ kind: 'debit' }, { kind: 'refund', reason: 'the run failed: provider_error' }])
  t.same(charge.lines, await linesOf(run.run_id))
  t.equal(charge.states.at(-1)?.status, 'failed')
})

t.test('a run in progress has the states that it has reached', async t => {
  const { body } = await customer.run(sandbox({ delay_ms: 20_000 }), { Prefer: 'wait=1' })
  const { status, states } = await explain(body.run_id)
  t.same([status, states.map(state => state.status)], ['processing', ['queued', 'processing']])
})

t.test('the refunds of an operator follow the debit, with their reasons', async t => {
  const { body: run } = await call<Run>(client, 'run_model', picture)
  const { refunds } = service.core.services
  for (const reason of ['blurred', 'too dark'])
    unwrap(await refunds.refund(operator, run.run_id, { amountMicros: 2_000_000, reason }))
  const charge = await explain(run.run_id)
  t.match(charge, { status: 'completed', credits_charged: 10, credits_refunded: 4, credits: 6 })
  t.match(charge.lines, [{ kind: 'debit' }, { credits: 2, reason: 'blurred' }, { credits: 2, reason: 'too dark' }])
})

t.test('the usage of a tool is that of the API', async t => {
  const { body } = await call<UsageList>(client, 'get_usage', { group_by: 'model,label', from: null, limit: 2 })
  t.same(body, (await customer.send('/v1/usage?group_by=model,label&limit=2')).body)
  const { body: rest } = await call<UsageList>(client, 'get_usage', {
    ...{ group_by: 'model,label', cursor: body.next_cursor },
  })
  t.same([body.data.length, rest.data.length, rest.has_more], [2, 1, false])
})

t.test('a run of another account is as absent as one that does not exist', async t => {
  const { body: run } = await (await openAccount(service)).run(picture)
  for (const run_id of [run.run_id, 'run_01h455vb4pex5vsknk084sn02q', 'nope'])
    t.match(await refusal(client, 'explain_charge', { run_id }), { code: 'run_not_found' }, run_id)
})
