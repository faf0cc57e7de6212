import t from 'tap'
import { type Usage, UsageList } from '../../schemas/api/usage.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { type Client, picture, sandbox } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'

const service = await startService(t)
const customer = await openAccount(service, { tester: true })
const operator = { kind: 'operator', name: 'test' } as const
const { keys, refunds } = service.core.services

const other = unwrap(await keys.create(operator, customer.accountId, { name: 'other', scope: 'full' }))
const byOther = service.client(other.apiKey)
const completed = (await customer.run({ ...picture, label: 'spring / ü' })).body
await byOther.run(picture)
await byOther.run({ ...sandbox({ outcome: 'provider_error' }), label: 'spring / ü' })
unwrap(await refunds.refund(operator, completed.run_id, { amountMicros: 2_500_000, reason: 'blurred' }))

const faultsOfList = compileCheck(UsageList)
const list = async (query: string, client: Client = customer): Promise<UsageList> => {
  const { body } = await client.send<UsageList>(`/v1/usage${query}`)
  const faults = faultsOfList(body)
  if (faults.length > 0) throw new Error(`${JSON.stringify(body)} is no usage: ${JSON.stringify(faults)}`)
  return body
}

const counts = (runs: number, failures: number, charged: number, refunded: number): Usage => ({
  ...{ object: 'usage', runs, failures },
  ...{ credits_charged: charged, credits_refunded: refunded, credits_released: 0, credits: charged - refunded },
})

t.test('without groups, everything is added up', async t => {
  t.same((await list('')).data, [counts(3, 1, 21, 3.5)])
})

t.test('items have the groups that are asked for, and add up refunds where their runs are', async t => {
  const { keyId } = customer
  t.same((await list('?group_by=model')).data, [
    { ...counts(2, 0, 20, 2.5), model: 'nano-banana-2' },
    { ...counts(1, 1, 1, 1), model: 'sandbox' },
  ])
  t.same((await list('?group_by=key')).data, [
    { ...counts(1, 0, 10, 2.5), key_id: keyId },
    { ...counts(2, 1, 11, 1), key_id: other.keyId },
  ])
  t.same((await list('?group_by=label')).data, [
    { ...counts(1, 0, 10, 0), label: null },
    { ...counts(2, 1, 11, 3.5), label: 'spring / ü' },
  ])
  const { data } = await list('?group_by=model,day,label,key')
  t.same(
    data.map(({ label, model, key_id }) => [label, model, key_id]),
    [
      [null, 'nano-banana-2', other.keyId],
      ['spring / ü', 'nano-banana-2', keyId],
      ['spring / ü', 'sandbox', other.keyId],
    ],
  )
})

t.test('the cursor of a page leads to the next one', async t => {
  const all = await list('?group_by=label,model')
  const first = await list('?group_by=label,model&limit=1')
  const second = await list(`?group_by=model,label&limit=1&cursor=${first.next_cursor}`)
  const third = await list(`?group_by=label,model&limit=1&cursor=${second.next_cursor}`)
  t.same([...first.data, ...second.data, ...third.data], all.data)
  t.same([all.has_more, first.has_more, third.has_more, third.next_cursor], [false, true, false, null])
})

t.test('days are selected by a date or a midnight, and others are not counted', async t => {
  const today = (await list('?group_by=day')).data[0]?.day as string
  const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10)
  const asked = await list(`?from=${today}&to=${tomorrow}T00:00Z`)
  t.match(asked, { from: today, to: tomorrow, data: [{ runs: 3 }] })
  t.same((await list(`?to=${today}`)).data, [counts(0, 0, 0, 0)])
})

t.test('an account sees only its own usage', async t => {
  t.same((await list('', await openAccount(service))).data, [counts(0, 0, 0, 0)])
})

t.test('a query that cannot be answered is refused at its place', async t => {
  const refused: Record<string, [path: string, message: RegExp]> = {
    'group_by=hour': ['/group_by', /must be a list of one or more of day, model, key and label/],
    'group_by=': ['/group_by', /must be a list of one or more of day, model, key and label/],
    'from=2026-02-30': ['/from', /must be a date or time that exists/],
    'to=2026-11-30T12:00Z': ['/to', /must be a date or a midnight in UTC/],
    'from=2020-01-01': ['/to', /must be 1 to 366 days after from/],
    'from=2026-11-02&to=2026-11-01': ['/to', /must be 1 to 366 days after from/],
    'group_by=day&cursor=nope': ['/cursor', /is no next_cursor of this list/],
    'limit=101': ['/limit', /100/],
    'kind=debit': ['/kind', /./],
  }
  for (const [query, [path, message]] of Object.entries(refused)) {
    const { status, body } = await customer.send(`/v1/usage?${query}`)
    t.match({ status, body }, { status: 400, body: { error: { errors: [{ path, message }] } } }, query)
  }
})
