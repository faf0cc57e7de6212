import t from 'tap'
import { type Run, RunList } from '../../schemas/api/run.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { type Client, picture, sandbox, withoutInput } from '../support/client.ts'
import { openAccount, openKey, startService } from '../support/service.ts'

const service = await startService(t)
const customer = await openAccount(service, { tester: true })
const runs: Run[] = []
for (const outcome of ['success', 'provider_error', 'success', 'content_rejected', 'success'])
  runs.unshift(withoutInput((await customer.run(sandbox({ outcome }))).body))
runs.unshift(withoutInput((await customer.run(picture)).body))

const faultsOfList = compileCheck(RunList)
const list = async (query: string, client: Client = customer): Promise<RunList> => {
  const { body } = await client.send<RunList>(`/v1/runs${query}`)
  const faults = faultsOfList(body)
  if (faults.length > 0) throw new Error(`${JSON.stringify(body)} is not a list of runs: ${JSON.stringify(faults)}`)
  return body
}

t.test('the list holds the runs of the account, newest first', async t => {
  const { data, has_more, next_cursor } = await list('')
  t.same(data, runs)
  t.equal(has_more, false)
  t.equal(next_cursor, null)
})

t.test('pages of any size contain every run once', async t => {
  for (const limit of [1, 2, 3, 5, 6, 100]) {
    const found: Run[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await list(`?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      t.ok(page.data.length <= limit)
      t.equal(page.has_more, page.next_cursor !== null)
      found.push(...page.data)
      cursor = page.next_cursor
    }
    t.same(found, runs, `limit ${limit}`)
  }
})

t.test('a page has 20 runs by default', async t => {
  const busy = await openAccount(service, { tester: true })
  await Promise.all(Array.from({ length: 21 }, () => busy.run(sandbox())))
  const { data, has_more } = await list('', busy)
  t.equal(data.length, 20)
  t.equal(has_more, true)
})

t.test('filters apply across pages', async t => {
  const failed = runs.filter(run => run.status === 'failed')
  t.same((await list('?status=failed')).data, failed)
  t.same((await list('?model=nano-banana-2')).data, runs.slice(0, 1))
  t.same((await list('?model=sandbox&status=failed')).data, failed)
  t.same((await list('?model=nano')).data, runs.slice(0, 1), 'an alias')
  t.same((await list('?model=nano-banana-2-t2i')).data, runs.slice(0, 1), 'an endpoint')
  t.same((await list('?model=nano-banana-2-i2i')).data, [], 'another endpoint of the family')
  t.same((await list('?model=no-such-model')).data, [])
  t.same((await list('?status=queued')).data, [])
  const first = await list('?status=failed&limit=1')
  t.same(first.data, failed.slice(0, 1))
  t.same((await list(`?status=failed&limit=1&cursor=${first.next_cursor}`)).data, failed.slice(1))
})

t.test('a run is in the list as soon as it is accepted', async t => {
  const { body } = await customer.run(sandbox({ delay_ms: 1200 }), { Prefer: 'wait=1' })
  t.equal((await list('?limit=1')).data[0]?.run_id, body.run_id)
})

t.test('a cursor with a run of another account still lists only own runs', async t => {
  const other = await openAccount(service, { tester: true })
  const { body } = await other.run(sandbox())
  t.same((await list('', other)).data, [withoutInput(body)])
  t.same((await list(`?cursor=${runs[0]?.run_id}`, other)).data, [])
  const ids = (await list(`?cursor=${body.run_id}`)).data.map(run => run.run_id)
  t.same(
    ids.slice(-runs.length),
    runs.map(run => run.run_id),
  )
})

t.test('an invalid limit is refused with a message that says what is valid', async t => {
  const faults = {
    'limit=0': 'must be at least 1',
    'limit=101': 'must be at most 100',
    'limit=1e1': 'must be an integer',
    'limit=ten': 'must be an integer',
    'limit=': 'must be an integer',
    'limit=1&limit=2': 'must be given only once',
  }
  for (const [query, message] of Object.entries(faults)) {
    const { status, body } = await customer.send(`/v1/runs?${query}`)
    t.equal(status, 400, query)
    t.same(body.error.errors, [{ path: '/limit', message }], query)
    t.equal(body.error.message, `Invalid query: /limit ${message}.`)
  }
})

t.test('an invalid query is refused with the path of its fault', async t => {
  const faults = {
    'cursor=x': '/cursor',
    'cursor=run_zzzzzzzzzzzzzzzzzzzzzzzzzz': '/cursor',
    'status=done': '/status',
    'model=No+Such': '/model',
    'order=asc': '/order',
    '__proto__=1': '/__proto__',
  }
  for (const [query, path] of Object.entries(faults)) {
    const { status, body } = await customer.send(`/v1/runs?${query}`)
    t.equal(status, 400, query)
    t.match(body.error, { code: 'invalid_request', errors: [{ path }] }, query)
  }
})

t.test('a range of time and a key select runs', async t => {
  const owner = await openAccount(service, { tester: true })
  const other = await openKey(service, owner)
  const made: Run[] = []
  for (const client of [owner, other, owner, other]) made.unshift((await client.run(sandbox())).body)
  const idsOf = async (query: string) => (await list(query, owner)).data.map(({ run_id }) => run_id)
  const ids = made.map(({ run_id }) => run_id)
  t.same(await idsOf(`?key_id=${other.keyId}`), [ids[0], ids[2]])
  t.same(await idsOf(`?key_id=${owner.keyId}&status=completed`), [ids[1], ids[3]])
  const [from, to] = [made[2]?.created_at, made[0]?.created_at]
  const within = made.filter(run => run.created_at >= `${from}` && run.created_at < `${to}`).map(({ run_id }) => run_id)
  t.same(await idsOf(`?from=${from}&to=${to}`), within, 'from is included, to is not')
  t.same(
    await idsOf(`?from=${from}`),
    made.filter(run => run.created_at >= `${from}`).map(({ run_id }) => run_id),
  )
  t.same(
    await idsOf(`?to=${to}&limit=1&cursor=${ids[0]}`),
    within.slice(0, 1),
    'a cursor does not lead out of the range',
  )
  t.same(await idsOf('?from=2099-01-01'), [])
  t.same(await idsOf('?to=2020-01-01'), [])
  const { status, body } = await owner.send('/v1/runs?from=2026-02-30')
  t.equal(status, 400)
  t.match(body, { error: { code: 'invalid_request', errors: [{ path: '/from' }] } })
})

t.test('a range far back is found without a search through newer runs', async t => {
  const owner = await openAccount(service, { tester: true, credits: 1000 })
  const first = (await owner.run(sandbox())).body
  // More than one request examines.
  for (let batch = 0; batch < 9; batch++) await Promise.all(Array.from({ length: 60 }, () => owner.run(sandbox())))
  const before = new Date(Date.parse(first.created_at) + 1).toISOString()
  t.match(await list(`?to=${before}`, owner), { data: [{ run_id: first.run_id }], next_cursor: null })
})
