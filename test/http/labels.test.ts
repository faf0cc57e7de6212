import t from 'tap'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import type { Run, RunList } from '../../schemas/api/run.ts'
import { call, connect } from '../mcp/support.ts'
import { picture, sandbox } from '../support/client.ts'
import { startReceiver } from '../support/receiver.ts'
import { openAccount, startService } from '../support/service.ts'

const service = await startService(t, { environment: { ALLOW_PRIVATE_WEBHOOKS: 'true' } })
const label = 'Frühling 2026 / Kunde 山田'

t.test('a label is shown by the run, its webhook and its lines in the ledger', async t => {
  const receiver = await startReceiver(t)
  const customer = await openAccount(service, { tester: true })
  const request = { ...sandbox({ outcome: 'provider_error' }), label, webhook_url: receiver.url }
  const { body } = await customer.run(request)
  t.match(body, { status: 'failed', label })
  t.equal((await customer.send(`/v1/runs/${body.run_id}`)).body.label, label)
  await receiver.until(1)
  t.match(receiver.deliveries[0]?.event, { data: { label } })
  const { data } = (await customer.send<LedgerList>('/v1/ledger')).body
  t.same(
    data.map(line => [line.kind, line.label]),
    [
      ['refund', label],
      ['debit', label],
      ['grant', undefined],
    ],
  )
})

t.test('runs are listed by their label', async t => {
  const customer = await openAccount(service, { tester: true })
  for (const given of [label, 'other', label, undefined]) await customer.run({ ...sandbox(), label: given })
  const listed = async (query: string) =>
    (await customer.send<RunList>(`/v1/runs?${query}`)).body.data.map((run: Run) => run.label)
  t.same(await listed(`label=${encodeURIComponent(label)}`), [label, label])
  t.same(await listed('label=other'), ['other'])
  t.same(await listed('label=Other'), [])
  t.same(await listed(''), [undefined, label, 'other', label])
})

t.test('a label is a part of the request that an idempotency key names', async t => {
  const customer = await openAccount(service, { tester: true })
  const headers = { 'Idempotency-Key': 'k' }
  const first = await customer.run({ ...sandbox(), label }, headers)
  const again = await customer.run({ ...sandbox(), label }, headers)
  t.equal(again.body.run_id, first.body.run_id)
  for (const given of ['other', undefined])
    t.equal((await customer.run({ ...sandbox(), label: given }, headers)).status, 422)
})

t.test('a label of null is none', async t => {
  const customer = await openAccount(service, { tester: true })
  t.notOk('label' in (await customer.run({ ...sandbox(), label: null })).body)
})

t.test('a label of 1 to 64 printable characters is accepted, and others are refused without a charge', async t => {
  const customer = await openAccount(service, { tester: true })
  for (const good of ['x', '🏔'.repeat(64), '=1+1', 'a b', 'می\u200cخواهم', '👩\u200d💻'])
    t.equal((await customer.run({ ...sandbox(), label: good })).body.label, good)
  const balance = await customer.balance()
  for (const bad of ['', ' x', 'x'.repeat(65), 'a\nb', 'a\u0000', 'a\u202eb', '\u2028', '\u200d', 7]) {
    const { status, body } = await customer.run({ ...picture, label: bad })
    t.equal(status, 400, encodeURIComponent(bad))
    t.same(
      body.error.errors?.map(({ path }) => path),
      ['/label'],
    )
  }
  t.match((await customer.run({ ...picture, label: 'a\nb' })).body.error.message, /1 to 64 printable characters/)
  t.equal(await customer.balance(), balance)
})

t.test('a label is in one form, however it was typed', async t => {
  const customer = await openAccount(service, { tester: true })
  const [short, long] = ['Caf\u00e9', 'Cafe\u0301']
  const headers = { 'Idempotency-Key': 'k' }
  const { body } = await customer.run({ ...sandbox(), label: long }, headers)
  t.equal(body.label, short)
  t.equal((await customer.run({ ...sandbox(), label: short }, headers)).body.run_id, body.run_id)
  for (const label of [short, long])
    t.match((await customer.send<RunList>(`/v1/runs?label=${encodeURIComponent(label)}`)).body.data, [
      { run_id: body.run_id },
    ])
  t.equal((await customer.run({ ...sandbox(), label: 'e\u0301'.repeat(64) })).body.label, 'é'.repeat(64))
})

t.test('agents label their runs too, and list them by it', async t => {
  const customer = await openAccount(service, { tester: true })
  const client = await connect(t, customer, '2025-11-25')
  t.match((await call(client, 'run_model', { ...sandbox(), label })).body, { label })
  await call(client, 'run_model', sandbox())
  t.match((await call<RunList>(client, 'list_runs', { label })).body.data, [{ label }])
})
