import t from 'tap'
import type { Client } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { completion, errorBody, startOpenAi } from '../support/vendors/openai.ts'
import { reply, type VendorRequest } from '../support/vendors/vendor-server.ts'

const [refused, poor, good] = ['sk-refused-0001', 'sk-poor-0002', 'sk-good-0003']
const openAi = await startOpenAi(t)
/** How the good account is answered next. */
let state: 'works' | 'gone' | 'too fast' = 'works'

/** OpenAI's answers to three accounts: https://developers.openai.com/api/docs/guides/error-codes */
openAi.answer = (response, request) => {
  const key = keyOf(request)
  if (key === refused)
    return reply(response, 401, errorBody(`Incorrect API key: ${key}`, 'invalid_request_error', 'invalid_api_key'))
  if (key === poor) return reply(response, 402, errorBody('Buy credits at OpenAI', 'insufficient_quota'))
  if (state === 'works') return reply(response, 200, completion({ content: 'done' }))
  if (state === 'gone') {
    state = 'works'
    return reply(response, 404, errorBody('No such model at OpenAI', 'invalid_request_error', 'model_not_found'))
  }
  reply(response, 429, errorBody('Slow down, OpenAI', 'requests'), { 'Retry-After': String(365 * 24 * 3600) })
}
const keyOf = ({ headers }: VendorRequest) => headers.authorization?.replace('Bearer ', '')

const errors: object[] = []
const warnings: object[] = []
const nothing = () => undefined
const error = (facts: object) => errors.push(facts)
const warn = (facts: object) => warnings.push(facts)
const logger = {
  isLevelEnabled: () => false,
  ...{ debug: nothing, info: nothing, fatal: nothing },
  ...{ error, warn },
}
const environment = { OPENAI_API_KEY: [refused, poor, good].join(), OPENAI_BASE_URL: openAi.url }
const service = await startService(t, { environment, logger })
const customer = await openAccount(service, { credits: 1000 })
const run = () => customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } })

t.test('runs use the key that works, and the log names each key that does not once', async t => {
  for (let index = 0; index < 6; index++) t.match((await run()).body, { status: 'completed', provider: 'openai' })
  const asked = openAi.requests.map(keyOf)
  t.equal(asked.filter(key => key === refused).length, 1)
  t.equal(asked.filter(key => key === poor).length, 1)
  t.same(errors.map(facts => (facts as { kind: string }).kind).sort(), ['out_of_quota', 'unauthorized'])
})

t.test('the log names a model that the provider does not have', async t => {
  errors.length = 0
  state = 'gone'
  t.match((await run()).body, { status: 'completed', provider: 'openai' })
  t.match(errors, [{ provider: 'openai', account: /^[0-9a-f]{8}$/, model: 'gpt-6.1-terra' }])
})

t.test('without a key that works, clients learn nothing of the vendor and lose no credits', async t => {
  state = 'too fast'
  const before = await customer.balance()
  const failed = await run()
  t.match(failed.body, { status: 'failed', error: { code: 'provider_error' } })
  const asked = openAi.requests.length
  const refusedRun = await run()
  t.match(refusedRun, { status: 503, body: { error: { code: 'unavailable' } } })
  const retryAfter = Number(refusedRun.headers.get('retry-after'))
  t.ok(retryAfter > 200 && retryAfter <= 300, `${retryAfter} s are left of the shortest wait`)
  t.match(refusedRun.body.error?.message, /gpt-6-1-terra/)
  t.equal(openAi.requests.length, asked, 'all accounts rest')
  t.notMatch(JSON.stringify([failed.body, refusedRun.body]), /OpenAI|insufficient|sk-/)
  t.equal(await customer.balance(), before)
})

t.test('while a model waits, it is not available, and the log says so once', async t => {
  const available = async (by: Pick<Client, 'send'> = customer) => {
    const { body } = await by.send<{ endpoints: { available: boolean }[] }>('/v1/models/gpt-6-1-terra')
    return body.endpoints.map(endpoint => endpoint.available)
  }
  t.same(await available(), [false])
  const folder = service.core.config.dataDir
  const other = await startService(t, { folder, environment: { ...environment, ROLES: 'api' } })
  const reader = other.client(customer.apiKey)
  await until('a process that takes no runs knows', async () => !(await available(reader))[0], { pollMs: 50 })
  const [began, ...others] = warnings.filter(
    facts => 'until' in facts && !('kind' in facts && facts.kind !== 'rate_limited'),
  )
  t.match(began, { provider: 'openai', kind: 'rate_limited', until: /^2.*Z$/ })
  t.same(others, [])
  warnings.length = 0
  for (let index = 0; index < 5; index++) t.equal((await run()).status, 503)
  t.same(warnings, [], 'nothing for a run that is turned away')
  const account = (began as { account: string }).account
  const operator = { kind: 'operator', name: 'olga' } as const
  state = 'works'
  await service.core.services.routing.endWait(operator, { provider: 'openai', account })
  await until('a run is taken', async () => (await run()).status === 200)
  t.same(await available(), [true])
  await until('the other process knows too', async () => (await available(reader))[0], { pollMs: 50 })
})
