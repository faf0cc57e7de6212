import t from 'tap'
import { PROVIDERS_STREAM } from '../../../schemas/events.ts'
import { collect } from '../../support/collect.ts'
import { operatorOf } from '../../support/operator.ts'
import { tinyFilm } from '../../support/sample-files.ts'
import { openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { COMPLETED, FAL_KEY, startFal } from '../../support/vendors/fal.ts'
import { generated, googleKey, startGoogle } from '../../support/vendors/google.ts'
import { KEY, PNG, startOpenAi } from '../../support/vendors/openai.ts'
import { reply, startVendorServer } from '../../support/vendors/vendor-server.ts'

const openAi = await startOpenAi(t)
const fal = await startFal(t)
const picture = { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } }
const google = await startGoogle(t, (_, response) => reply(response, 200, generated([picture])))
const files = await startVendorServer(t, (_, response) =>
  response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(tinyFilm()),
)
const environment = {
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: openAi.url,
  FAL_KEY,
  FAL_BASE_URL: fal.url,
  GOOGLE_API_KEY: googleKey,
  GOOGLE_BASE_URL: google.url,
  ALLOW_PRIVATE_WEBHOOKS: 'true',
}
const folder = await temporaryFolder(t)
const errors: [facts: object, message: string][] = []
const nothing = () => undefined
const logger = { isLevelEnabled: () => false, debug: nothing, info: nothing, warn: nothing, fatal: nothing }
const error = (facts: object, message: string) => errors.push([facts, message])
const service = await startService(t, { folder, environment, logger: { ...logger, error } })
const operator = operatorOf(folder, environment)
const customer = await openAccount(service, { credits: 10_000 })

const text = { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }
const film = { model: 'kling-3-pro', input: { prompt: 'waves at night' } }
const bindings = (model: string) =>
  operator
    .json<{ binding: string; state: string }[]>(t, 'bindings', 'list', model)
    .then(rows => rows.map(({ binding, state }) => `${binding} ${state}`))

/** Whether the list of models says that a model can be run. */
const isAvailable = async (model: string) => {
  const { body } = await customer.send<{ data: { id: string; endpoints: { available: boolean }[] }[] }>('/v1/models')
  return body.data.find(({ id }) => id === model)?.endpoints[0]?.available
}

/** Runs a model until the answer is as expected: choices take effect within a second. */
const untilAnswered = (what: string, request: object, isExpected: (answer: Answer) => boolean) =>
  until(what, async () => isExpected((await customer.run(request)) as unknown as Answer), { pollMs: 50 })
type Answer = { status: number; body: { provider?: string } }

t.test('providers disable: a running service sells nothing of the provider, and enable turns it on again', async t => {
  const disable = ['--as', 'olga', 'providers', 'disable', 'openai', '--reason', 'too dear']
  t.same(await operator.json(t, ...disable), { provider: 'openai', enabled: false, changed: true })
  t.same(await operator.json(t, ...disable), { provider: 'openai', enabled: false, changed: false })
  t.same(await bindings('gpt-6-1-terra'), ['openai/gpt-6.1-terra provider disabled'])
  const before = await customer.balance()
  await untilAnswered('it is refused', text, ({ status }) => status === 503)
  t.notOk(await isAvailable('gpt-6-1-terra'))
  const asked = openAi.requests.length
  t.equal((await customer.run(text)).status, 503)
  t.equal(openAi.requests.length, asked, 'nobody asks the provider')
  t.ok((await customer.balance()) <= before)
  t.match(await operator.text(t, 'providers', 'enable', 'openai'), /changed +true/)
  await untilAnswered('it runs', text, ({ status, body }) => status === 200 && body.provider === 'openai')
  t.ok(await isAvailable('gpt-6-1-terra'))
  const events = await collect(service.core.log.readStream(PROVIDERS_STREAM, 0))
  t.match(events, [
    {
      type: 'ProviderDisabled',
      data: { provider: 'openai', reason: 'too dear' },
      metadata: { actor: { kind: 'operator', name: 'olga' } },
    },
    { type: 'ProviderEnabled', data: { provider: 'openai' } },
  ])
})

t.test('a job that was accepted before its provider was disabled is polled to its end', async t => {
  const waiting = { status: 'IN_PROGRESS' }
  const states: object[] = [waiting]
  const body = { video: { url: `${files.url}/film.mp4`, content_type: 'video/mp4' } }
  fal.job = { states, result: { status: 200, body } }
  const running = customer.run(film, { Prefer: 'wait=60' })
  await until('fal has accepted it', () => fal.requests.some(({ method }) => method === 'POST'))
  await operator.json(t, 'providers', 'disable', 'fal')
  await until('the service knows', () => service.core.choices.known.disabledProviders.has('fal'))
  states.push(COMPLETED)
  t.match((await running).body, { status: 'completed', provider: 'fal' })
  t.equal((await customer.run(film)).status, 503)
  await operator.json(t, 'providers', 'enable', 'fal')
  await until('the service knows', () => !service.core.choices.known.disabledProviders.has('fal'))
})

t.test('bindings order and disable: the next binding is tried first', async t => {
  const endpoint = 'nano-banana-2-t2i'
  const gemini = 'google/gemini-3.1-flash-image'
  const shipped = await bindings(endpoint)
  t.match(shipped, [/^fal\/fal-ai\/nano-banana-2 on$/, `${gemini} on`, /^replicate\/.* no key$/])
  const ordered = await operator.json<{ bindings: string[] }>(t, 'bindings', 'order', endpoint, gemini)
  t.match(ordered, { endpoint, bindings: [gemini, 'fal/fal-ai/nano-banana-2'], changed: true })
  t.same(await bindings(endpoint), [shipped[1], shipped[0], ...shipped.slice(2)])
  const painting = { model: 'nano-banana-2', input: { prompt: 'a red dot' } }
  await until('the service knows', () => service.core.choices.known.orders.has(endpoint))
  t.match((await customer.run(painting)).body, { status: 'completed', provider: 'google' })

  t.match(await operator.json(t, 'bindings', 'order', endpoint, '--shipped'), { changed: true })
  t.same(await bindings(endpoint), shipped)
  const first = 'fal/fal-ai/nano-banana-2'
  t.same(await operator.json(t, 'bindings', 'disable', endpoint, first), {
    ...{ endpoint, binding: first },
    ...{ enabled: false, changed: true },
  })
  t.equal((await bindings(endpoint))[0], `${first} disabled`)
  await until('the service knows', () => service.core.choices.known.disabledBindings.has(endpoint))
  t.match((await customer.run(painting)).body, { status: 'completed', provider: 'google' })
  t.match(await operator.text(t, 'bindings', 'enable', endpoint, first), /changed +true/)
})

t.test('providers list: a refused account of a running service, its calls and its models', async t => {
  const list = () => operator.json<Listed[]>(t, 'providers', 'list')
  const openAiOf = (all: Listed[]) => all.find(({ provider }) => provider === 'openai') as Listed
  await until('the service has reported', async () => openAiOf(await list()).processes === 1, { pollMs: 50 })
  const [first, ...others] = await list()
  t.match(first, {
    ...{ provider: 'openai', state: 'on', is_configured: true, disabled_at: null, reason: null },
    ...{ accounts: [/^[0-9a-f]{8}$/], calls: 0, max_calls: 128, rests: [], retiring: [] },
    families: ['gpt-image-2-6', 'gpt-6-1-terra'],
  })
  t.match(others[0], { provider: 'anthropic', state: 'no key', accounts: [], processes: 0 })
  openAi.answer = response => reply(response, 401, { error: { message: `Incorrect API key: ${KEY}`, code: 'no' } })
  await Promise.all([customer.run(text), customer.run(text)])
  const kind = 'unauthorized'
  t.match(errors, [[{ provider: 'openai', account: first?.accounts[0], kind }, /refuses the account; check its key/]])
  t.equal(errors.length, 1, 'the operator is told once')
  await until('the rest is reported', async () => openAiOf(await list()).rests.length > 0, { pollMs: 50 })
  t.match(openAiOf(await list()).rests, [{ account: first?.accounts[0], model: null, kind, until: /^2/ }])
  const shown = await operator.text(t, 'providers', 'list')
  t.match(shown, /^openai +on +[0-9a-f]{8} +\d of 128 +gpt-image-2-6, gpt-6-1-terra$/m)
  t.match(
    shown,
    /^openai: the circuit breaker for account [0-9a-f]{8} is open until 2\S+: the provider refuses the key; check OP/m,
  )
  await operator.json(t, 'providers', 'disable', 'elevenlabs', '--reason', 'too dear')
  t.match(await operator.text(t, 'providers', 'list'), /^elevenlabs +disabled +– +– +eleven-v3$/m)
  t.match(await operator.text(t, 'providers', 'list'), /^elevenlabs: disabled since 2.*Z: too dear$/m)
  for (const secret of [KEY, FAL_KEY, googleKey]) t.notOk([shown, JSON.stringify(errors)].join().includes(secret))
})

t.test('providers check and enable: an account that was mended gets runs again at once', async t => {
  const accepted = { provider: 'openai', works: true, fault: null }
  const refuse = async () => {
    openAi.answer = response => reply(response, 401, { error: { message: 'Incorrect API key', code: 'no' } })
    await customer.run(text)
    await until('it waits', async () => (await customer.run(text)).status === 503)
    await until('the wait is reported', async () => (await rests()).length > 0, { pollMs: 50 })
    delete openAi.answer
    t.equal((await customer.run(text)).status, 503, 'it waits although the key works again')
  }
  const rests = async () => (await operator.json<Listed[]>(t, 'providers', 'list'))[0]?.rests ?? []
  await refuse()
  t.notOk(
    (await operator.json<{ id: string; endpoints: { available: boolean }[] }[]>(t, 'catalog', 'list')).find(
      ({ id }) => id === 'gpt-6-1-terra',
    )?.endpoints[0]?.available,
  )
  t.notOk(await isAvailable('gpt-6-1-terra'))
  t.match(await operator.json(t, 'providers', 'check', 'openai'), [{ ...accepted, waited: true }])
  await untilAnswered('it runs', text, ({ status }) => status === 200)
  t.ok(await isAvailable('gpt-6-1-terra'))
  const events = () => collect(service.core.log.readStream(PROVIDERS_STREAM, 0))
  t.match((await events()).at(-1), {
    type: 'ProviderWaitEnded',
    data: { provider: 'openai', account: /^[0-9a-f]{8}$/ },
  })

  await refuse()
  t.match(await operator.json(t, 'providers', 'enable', 'openai'), { enabled: true, changed: true })
  await untilAnswered('it runs', text, ({ status }) => status === 200)
  const { length } = await events()
  await until('no wait is reported', async () => (await rests()).length === 0, { pollMs: 50 })
  t.match(await operator.json(t, 'providers', 'enable', 'openai'), { changed: false })
  t.match(await operator.json(t, 'providers', 'check', 'openai'), [{ ...accepted, waited: false }])
  t.equal((await events()).length, length, 'what does not wait has no event')
})

t.test('providers list: without a process that works on runs', async t => {
  await service.stop()
  t.match(await operator.text(t, 'providers', 'list'), /^openai: no process with the role reactors reports/m)
})

interface Listed {
  provider: string
  processes: number
  accounts: string[]
  rests: object[]
}

t.test('bindings list: where and when each model was looked up', async t => {
  t.match(await operator.json(t, 'bindings', 'list', 'wan-2-6-t2v'), [
    {
      ...{ endpoint: 'wan-2-6-t2v', binding: 'replicate/wan-video/wan-2.6-t2v', state: 'no key' },
      ...{ source: /^https:\/\/replicate\.com/, looked_up_on: /^2026-/, is_confirmed: false },
    },
  ])
  t.match(await operator.text(t, 'bindings', 'list', 'wan-2-6'), /wan-2\.6-t2v +no key +2026-\S+, unconfirmed$/m)
})

t.test('what does not exist is refused with what does', async t => {
  const refusals: [string[], RegExp][] = [
    [['providers', 'disable', 'opnai'], /no provider opnai; there are openai, anthropic, google/],
    [['providers', 'disable', 'sandbox'], /The sandbox cannot be disabled/],
    [['providers', 'disable', 'openai', '--reason', ' '], /reason must have 1 to 200 printable/],
    [['bindings', 'list', 'nope'], /There is no model nope; "tollgate catalog list" shows all models/],
    [['bindings', 'list', 'sora-2-t2v'], /model sora-2-t2v was withdrawn; gemini-omni-flash replaces it/],
    [['bindings', 'disable', 'nope-t2i', 'fal/x'], /endpoint nope-t2i; "tollgate bindings list" shows all/],
    [['bindings', 'disable', 'gen-4-5', 'fal/x'], /gen-4-5 is a model\..* endpoints: gen-4-5-t2v, gen-4-5-i2v\.$/m],
    [['bindings', 'disable', 'gpt-6-1-terra-t2t', 'openai/x'], /no binding openai\/x; it has openai\/gpt-6\.1-terra/],
    [['bindings', 'order', 'gpt-6-1-terra-t2t', 'openai'], /no binding openai; it has openai\/gpt-6\.1-terra/],
    [['bindings', 'order', 'gpt-6-1-terra-t2t'], /Name the bindings to try first/],
    [['bindings', 'order', 'gpt-6-1-terra-t2t', 'openai/gpt-6.1-terra', '--shipped'], /--shipped instead/],
  ]
  for (const [args, told] of refusals) t.match(await operator.refused(t, ...args), told, args.join(' '))
  t.match(await operator.text(t, 'bindings', 'list', 'sandbox'), /No provider is bound to sandbox/)
})

t.test('the log with the choices has no fault', async t => {
  const { code, stdout } = await operator.run('audit', 'verify')
  t.equal(code, 0)
  t.match(stdout, /nothing is wrong/)
})
