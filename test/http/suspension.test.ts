import t from 'tap'
import { accountStream } from '../../schemas/events.ts'
import { routes } from '../../src/http/routes.ts'
import { tools } from '../../src/mcp/tools.ts'
import type { ProviderOutcome } from '../../src/ports/provider.ts'
import { request } from '../mcp/support.ts'
import { picture } from '../support/client.ts'
import { doneFor } from '../support/done.ts'
import { auditFolder } from '../support/ledger.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const operator = { kind: 'operator', name: 'ada' } as const

/** The runs that the provider works on, until they are ended. */
const working: ((outcome: ProviderOutcome) => void)[] = []
const DONE: ProviderOutcome = { kind: 'done', media: [], text: 'done' }

const folder = await temporaryFolder(t)
const service = await startService(t, {
  folder,
  providers: {
    sandbox: {
      deduplicates: true,
      submit: job =>
        job.input['prompt'] === 'slow' ? new Promise(resolve => working.push(resolve)) : Promise.resolve(doneFor(job)),
    },
  },
})
const { accounts } = service.core.services
const text = (prompt = 'a lake') => ({ model: 'gpt-6-1-terra', input: { prompt } })

const suspend = async ({ accountId }: Customer) => unwrap(await accounts.suspend(operator, accountId, 'unpaid invoice'))
const resume = async ({ accountId }: Customer) => unwrap(await accounts.resume(operator, accountId, 'paid'))

/** What a refused request of a suspended account gets. */
const refused = {
  status: 403,
  body: {
    error: {
      code: 'account_suspended',
      message: 'This account is suspended (unpaid invoice). Contact the operator of the service to have it resumed.',
    },
  },
}

t.test('every operation behind a key, and every tool, refuses a suspended account', async t => {
  const customer = await openAccount(service)
  await suspend(customer)
  const keyed = routes.filter(({ auth }) => auth !== 'none')
  t.ok(keyed.length > 20)
  for (const { id, method, path } of keyed) {
    const address = path.replaceAll(/:\w+/g, 'run_01h455vb4pex5vsknk084sn02q')
    const { status, body } = await customer.send(address, { method: method.toUpperCase() })
    t.match({ status, body }, refused, id)
  }
  for (const { name } of tools) {
    const { message, headers } = request('2025-11-25', 'tools/call', { name, arguments: {} })
    const { status, body } = await customer.post('/mcp', message, headers)
    t.match({ status, body }, refused, name)
  }
  t.equal((await service.client().send('/healthz')).status, 200, 'what needs no key is open')
})

t.test('a key that no account has is unknown, whatever is suspended', async t => {
  t.match((await service.client('tg_sk_live_x').send('/v1/balance')).body.error.code, 'invalid_api_key')
})

t.test('a resumed account works as before', async t => {
  const customer = await openAccount(service)
  await customer.run(picture)
  await suspend(customer)
  t.equal((await customer.run(picture)).status, 403)
  await resume(customer)
  t.equal((await customer.run(picture)).status, 200)
  t.equal(await customer.balance(), 80)
})

t.test('runs under way end, and are paid for or refunded', async t => {
  const customer = await openAccount(service)
  const replies = [customer.run(text('slow')), customer.run(text('slow'))]
  await until('both runs are under way', () => working.length === 2)
  await suspend(customer)
  const [first, second] = working.splice(0) as [(outcome: ProviderOutcome) => void, (outcome: ProviderOutcome) => void]
  first(DONE)
  second({ kind: 'failed', code: 'provider_error', message: 'It did not work.' })
  const bodies = (await Promise.all(replies)).map(({ body }) => body)
  t.same(bodies.map(({ status }) => status).sort(), ['completed', 'failed'])
  const { credits_charged = 0, credits_released = 0 } = bodies.find(({ status }) => status === 'completed') ?? {}
  const { balanceMicros, suspension } = unwrap(await accounts.find(operator, customer.accountId))
  t.equal(balanceMicros, Math.round((100 - credits_charged + credits_released) * 1_000_000))
  t.match(suspension, { reason: 'unpaid invoice', since: /Z$/ })
})

t.test('a stream of a run ends', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...text('slow') }, { Prefer: 'wait=1' })
  const events = await fetch(`${service.url}/v1/runs/${body.run_id}/events`, {
    headers: { Authorization: `Bearer ${customer.apiKey}` },
  })
  t.equal(events.status, 200)
  await suspend(customer)
  // The next change of the run is not shown any more.
  for (const end of working.splice(0)) end(DONE)
  t.notMatch(await events.text(), /"status":"completed"/)
})

t.test('an upload of a suspended account is refused at its presigned address', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.post<{ presigned_url: string }>('/v1/uploads/presigned', {
    filename: 'lake.png',
    mime_type: 'image/png',
  })
  await suspend(customer)
  const { pathname, search } = new URL(body.presigned_url)
  const put = { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: 'x' }
  const { status, body: answered } = await service.client().send(pathname + search, put)
  t.match({ status, body: answered }, refused)
})

t.test('of a hundred runs and a suspension at once, none is accepted after it', async t => {
  const customer = await openAccount(service, { credits: 10_000 })
  const { accountId } = customer
  const replies = Array.from({ length: 100 }, () => customer.run(text()))
  // Some have been accepted, and the others are on their way.
  await until('a run is accepted', async () => (await service.core.accounts.state(accountId)).balanceMicros < 1e10)
  await suspend(customer)
  const statuses = (await Promise.all(replies)).map(({ status }) => status)
  const types: string[] = []
  for await (const page of service.core.log.readStream(accountStream(accountId), 0))
    types.push(...page.map(({ type }) => type))
  const accepted = types.filter(type => type === 'CreditsDebited').length
  t.ok(accepted > 0)
  t.notOk(types.slice(types.indexOf('AccountSuspended')).includes('CreditsDebited'))
  t.equal(statuses.filter(status => status === 200).length, accepted)
  t.equal(statuses.filter(status => status === 403).length, 100 - accepted)
  t.ok(accepted < 100, 'the suspension came before the last run')
})

t.test('another process refuses it, too', async t => {
  const other = await startService(t, { folder, providers: {} })
  const customer = await openAccount(service)
  const elsewhere = customer.at(other.url)
  await until('the other process knows the key', async () => (await elsewhere.send('/v1/balance')).status === 200)
  await suspend(customer)
  await until('the other process refuses', async () => (await elsewhere.send('/v1/balance')).status === 403)
  await resume(customer)
  await until('the other process answers', async () => (await elsewhere.send('/v1/balance')).status === 200)
  await other.stop()
})

t.test('the log of all this has no fault', async t => {
  await service.stop()
  t.same((await auditFolder(folder)).faults, [])
})
