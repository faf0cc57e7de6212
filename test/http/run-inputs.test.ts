import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { Run, RunList } from '../../schemas/api/run.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { call, connect } from '../mcp/support.ts'
import { endpoint, family, parameters } from '../support/catalog-samples.ts'
import { picture } from '../support/client.ts'
import { openLog } from '../support/engine.ts'
import { startReceiver } from '../support/receiver.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'
import { offer } from '../support/vendor-families.ts'

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }
const service = await startService(t, { environment, providers: { sandbox: instantProvider } })

const signed = 'https://example.com/a.png?X-Signature=abc#top'
const edit = {
  model: 'nano-banana-2',
  input: { prompt: `Like https://example.com/b?key=1, in oil`, image_url: signed },
}

t.test('the input of a run makes its result again', async t => {
  const real = await startService(t)
  const customer = await openAccount(real)
  const question = { model: 'gemini-3-flash', input: { prompt: 'What is a lighthouse?' } }
  const { body: first } = await customer.run(question)
  const { input = {} } = first
  t.match(input, { ...question.input, max_output_tokens: Number, seed: Number })
  t.same((await customer.send(`/v1/runs/${first.run_id}`)).body, first)
  const { body: again } = await customer.run({ model: first.model, input })
  t.same([again.input, again.output], [input, first.output])
  const { body: other } = await customer.run(question)
  t.not(other.input?.['seed'], input['seed'])
})

t.test('a seed of the client is kept', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...picture, input: { ...picture.input, seed: 0 } })
  t.equal(body.input?.['seed'], 0)
})

t.test('a repeated request shows the input of the first one', async t => {
  const customer = await openAccount(service)
  const headers = { 'Idempotency-Key': 'same' }
  const { body: first } = await customer.run(picture, headers)
  t.ok(first.input)
  t.same((await customer.run(picture, headers)).body, first)
})

t.test('lists show inputs where that is asked for', async t => {
  const customer = await openAccount(service)
  const runs = [await customer.run(picture), await customer.run(edit)].map(({ body }) => body).reverse()
  const { body: plain } = await customer.send<RunList>('/v1/runs')
  t.same(
    plain.data,
    runs.map(({ input, ...run }) => run),
  )
  t.same((await customer.send<RunList>('/v1/runs?include=input')).body.data, runs)
  const { status, body } = await customer.send('/v1/runs?include=output')
  t.match([status, body], [400, { error: { errors: [{ path: '/include' }] } }])
})

t.test('a page of large inputs is short, and its cursor leads to the rest', async t => {
  const prompt = 'x'.repeat(240_000)
  await offer(service.core, family('large', {}, [endpoint('t2i', { parametersSchema: parameters() })]))
  const customer = await openAccount(service, { credits: 10_000 })
  await Promise.all(Array.from({ length: 20 }, () => customer.run({ model: 'large', input: { prompt } })))
  const { body: first } = await customer.send<RunList>('/v1/runs?include=input&limit=100')
  t.ok(first.data.length < 20 && first.has_more)
  const { body: rest } = await customer.send<RunList>(`/v1/runs?include=input&cursor=${first.next_cursor}`)
  t.equal(new Set([...first.data, ...rest.data].map(run => run.run_id)).size, 20)
  t.equal(rest.has_more, false)
  t.equal((await customer.send<RunList>('/v1/runs?limit=100')).body.data.length, 20)
})

t.test('webhooks, event streams and tools leave the input out', async t => {
  const receiver = await startReceiver(t)
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...picture, webhook_url: receiver.url })
  await receiver.until(1)
  const { input, ...run } = body
  t.same(receiver.deliveries[0]?.event.data, run)
  const { body: events } = await customer.send<string>(`/v1/runs/${run.run_id}/events`)
  t.match(events, '"status":"completed"')
  t.notMatch(events, 'lighthouse')
  const client = await connect(t, customer, '2025-11-25')
  t.same((await call<Run>(client, 'get_run', { run_id: run.run_id })).body, run)
  t.notOk('input' in (await call<Run>(client, 'run_model', picture)).body)
  for (const each of (await call<RunList>(client, 'list_runs')).body.data) t.notOk('input' in each)
})

t.test('a read key sees addresses without their query', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run(edit)
  t.match(body.input, edit.input)
  const reader = await openKey(service, customer, { scope: 'read' })
  const shown = { prompt: 'Like https://example.com/b in oil', image_url: 'https://example.com/a.png' }
  t.match((await reader.send(`/v1/runs/${body.run_id}`)).body.input, shown)
  t.match((await reader.send<RunList>('/v1/runs?include=input')).body.data[0]?.input, shown)
  t.same((await customer.send(`/v1/runs/${body.run_id}`)).body, body)
})

t.test('while the log is unavailable, a run is shown without its input', async t => {
  const log = await openLog(t)
  let isDown = false
  const readEvent: typeof log.readEvent = async (...place) => {
    if (isDown) throw new Unavailable('the log is down')
    return log.readEvent(...place)
  }
  const broken = await startService(t, { log: { ...log, readEvent }, providers: { sandbox: instantProvider } })
  const customer = await openAccount(broken)
  const { body } = await customer.run(picture)
  const path = `/v1/runs/${body.run_id}`
  isDown = true
  const { input, ...rest } = body
  t.same((await customer.send(path)).body, rest)
  const { status, body: refused } = await customer.send<ErrorBody>('/v1/runs?include=input')
  t.match([status, refused], [503, { error: { code: 'unavailable' } }])
  isDown = false
  t.same((await customer.send(path)).body, body)
})
