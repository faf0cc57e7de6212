import t from 'tap'
import { runErrorCodes } from '../../schemas/account-events.ts'
import examples from '../../schemas/api/examples.json' with { type: 'json' }
import { Quote, Run } from '../../schemas/api/run.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { picture, sandbox } from '../support/client.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const faultsOfRun = compileCheck(Run)
const service = await startService(t)

t.test('a sync run returns its picture', async t => {
  const customer = await openAccount(service)
  const metadata = { order: 7, nested: { tags: ['a', null, 1.5] } }
  const { status, body } = await customer.run({ ...picture, metadata })
  t.equal(status, 200)
  t.same(faultsOfRun(body), [])
  t.match(body, { status: 'completed', model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i', credits_charged: 10 })
  t.same(body.metadata, metadata)
  t.ok(body.created_at <= String(body.started_at) && String(body.started_at) <= String(body.completed_at))
  t.same(body.output?.urls, [body.output?.url])
  t.equal(await customer.balance(), 90)

  const answer = await fetch(String(body.output?.url))
  t.equal(answer.status, 200)
  const bytes = Buffer.from(await answer.arrayBuffer())
  t.equal(bytes.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n')
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'image/png',
    'content-length': String(bytes.length),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': /max-age=3600/,
  })
})

t.test('files match their requested format', async t => {
  const customer = await openAccount(service)
  const formats = { jpeg: /^\xff\xd8\xff/, webp: /^RIFF.{4}WEBP/s }
  for (const [format, magic] of Object.entries(formats)) {
    const { body } = await customer.run({ ...picture, input: { ...picture.input, output_format: format } })
    const answer = await fetch(String(body.output?.url))
    t.equal(answer.headers.get('Content-Type'), `image/${format}`)
    t.match(Buffer.from(await answer.arrayBuffer()).toString('latin1'), magic)
  }
})

t.test('a run with several images returns a list of URLs', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...picture, input: { ...picture.input, num_images: 2 } })
  t.equal(new Set(body.output?.urls).size, 2)
  t.notOk(body.output && 'url' in body.output)
  t.equal(await customer.balance(), 80)
})

t.test('an alias runs its family', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...picture, model: 'nano' })
  t.match(body, { status: 'completed', model: 'nano-banana-2' })
})

t.test('the id of an endpoint as the model selects that endpoint', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...picture, model: 'nano-banana-2-t2i' })
  t.match(body, { status: 'completed', model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i', credits_charged: 10 })
  const image_url = 'https://example.com/a.png'
  for (const [model, input, path, message] of [
    ['nano-banana-2-t2i', { ...picture.input, image_url }, '/input/image_url', /^is unknown/],
    ['nano-banana-2-i2i', picture.input, '/input/image_url', /^is required/],
  ] as const) {
    const { status, body } = await customer.run({ model, input })
    t.equal(status, 400)
    t.match(body.error, {
      code: 'invalid_input',
      message: `The input does not match the parameters_schema of ${model}.`,
      errors: [{ path, message }],
    })
  }
  t.equal((await customer.run({ ...picture, model: 'nano-banana-2-t2v' })).status, 404)
  t.equal(await customer.balance(), 90)
})

t.test('a text run returns its text', async t => {
  const customer = await openAccount(service, { tester: true })
  const { body } = await customer.run(sandbox({ prompt: 'grüße 🌍' }))
  t.same(body.output, { text: 'Sandbox heard: grüße 🌍' })
})

t.test('a dry run quotes the price and charges nothing', async t => {
  const customer = await openAccount(service, { credits: 1 })
  const head = await service.core.log.head()
  const factors = { '1K': 1, '2K': 1.5, '4K': 2 }
  for (const [resolution, factor] of Object.entries(factors))
    for (const num_images of [1, 2, 3, 4])
      for (const enable_web_search of [false, true]) {
        const input = { ...picture.input, resolution, num_images, enable_web_search }
        const { status, body } = await customer.post<Quote>('/v1/run?dry_run=true', { ...picture, input })
        t.equal(status, 200)
        t.equal(body.credits, 10 * num_images * factor + (enable_web_search ? 1.5 : 0), JSON.stringify(input))
      }
  t.equal(await service.core.log.head(), head)
  t.equal(await customer.balance(), 1)
})

t.test('a quote itemises its price', async t => {
  const customer = await openAccount(service)
  const input = { ...picture.input, num_images: 2, resolution: '2K', enable_web_search: true }
  const { body } = await customer.post<Quote>('/v1/run?dry_run=true', { ...picture, input })
  t.same(compileCheck(Quote)(body), [])
  t.same(body, examples.quote, 'equals the documented example')
})

t.test('a run costs what its dry run quoted', async t => {
  const customer = await openAccount(service)
  const input = { ...picture.input, enable_web_search: true }
  const quote = await customer.post<Quote>('/v1/run?dry_run=true', { ...picture, input })
  const { body } = await customer.run({ ...picture, input })
  t.equal(body.credits_charged, 11.5)
  t.equal(body.credits_charged, quote.body.credits)
})

t.test('a run slower than the wait returns 202 and continues', async t => {
  const customer = await openAccount(service, { tester: true })
  const { status, headers, body } = await customer.run(sandbox({ delay_ms: 1500 }), { Prefer: 'wait=1' })
  t.equal(status, 202)
  t.match(body, { status: 'processing', credits_charged: 1 })
  t.same(faultsOfRun(body), [])
  t.equal(headers.get('Location'), `/v1/runs/${body.run_id}`)
  t.equal(headers.get('Retry-After'), '10')
  t.equal(headers.get('Preference-Applied'), 'wait=1')
  const found = await until('the run has ended', async () => {
    const reply = await customer.send(String(headers.get('Location')))
    return reply.body.status !== 'processing' && reply
  })
  t.equal(found.status, 200)
  t.equal(found.body.status, 'completed')
})

t.test('an out-of-range wait is clamped and a malformed one ignored', async t => {
  const customer = await openAccount(service, { tester: true })
  const applied = async (prefer: string) => {
    const { status, headers } = await customer.run(sandbox(), { Prefer: prefer })
    t.equal(status, 200)
    return headers.get('Preference-Applied')
  }
  t.equal(await applied('wait=999999'), 'wait=120')
  t.equal(await applied('respond-async, wait="5"'), 'wait=5')
  t.equal(await applied('handling=lenient; wait=7'), 'wait=7')
  t.equal(await applied('wait=soon'), null)
  t.equal(await applied('wait, respond-asynchronously'), null)
  t.equal(await applied('wait=1.5'), null)
  t.equal(await applied('wait=-1'), null)
  t.equal(await applied('await=5'), null)
})

t.test('a client that prefers not to wait gets 202 at once from every model', async t => {
  const customer = await openAccount(service, { tester: true })
  const preferences = {
    'respond-async': 'respond-async',
    'wait=0': 'wait=0',
    'Respond-Async, WAIT="0"': 'respond-async',
  }
  for (const request of [picture, sandbox(), { model: 'lyria-2', input: { prompt: 'a wave' } }])
    for (const [prefer, applied] of Object.entries(preferences)) {
      const { status, headers, body } = await customer.run(request, { Prefer: prefer })
      t.equal(status, 202, `${request.model} ${prefer}`)
      t.match(body.status, /^(queued|processing)$/)
      t.equal(headers.get('Preference-Applied'), applied)
      t.equal(headers.get('Location'), `/v1/runs/${body.run_id}`)
    }
})

t.test('a client that prefers not to wait gets 202 although the run ends before a timer could', async t => {
  const late: Clock['timer'] = (ms, action) => systemClock.timer(ms || 2000, action)
  const clock = { ...systemClock, timer: late }
  const customer = await openAccount(await startService(t, { clock, providers: { sandbox: instantProvider } }))
  t.equal((await customer.run(picture, { Prefer: 'wait=0' })).status, 202)
})

t.test('a client may wait for a while before it is answered without the end', async t => {
  const customer = await openAccount(service, { tester: true })
  const prefer = { Prefer: 'respond-async, wait=1' }
  const slow = await customer.run(sandbox({ delay_ms: 2000 }), prefer)
  t.equal(slow.status, 202)
  t.equal(slow.headers.get('Preference-Applied'), 'respond-async, wait=1')
  const fast = await customer.run(sandbox(), { Prefer: 'respond-async;wait=30' })
  t.equal(fast.status, 200)
  t.equal(fast.headers.get('Preference-Applied'), 'wait=30')
})

// A provider cannot fail with `cancelled`; only the client cancels.
for (const code of runErrorCodes.filter(code => code !== 'cancelled'))
  t.test(`a run that fails with ${code} is refunded in full`, async t => {
    const customer = await openAccount(service, { tester: true })
    const { status, body } = await customer.run(sandbox({ outcome: code }))
    t.equal(status, 200)
    t.same(faultsOfRun(body), [])
    t.match(body, { status: 'failed', credits_charged: 1, credits_refunded: 1, error: { code } })
    t.notOk('output' in body)
    t.equal(await customer.balance(), 100)
  })

t.test('an error in the provider fails the run without revealing its details', async t => {
  const customer = await openAccount(service, { tester: true })
  const { status, body } = await customer.run(sandbox({ outcome: 'crash_before_answer' }))
  t.equal(status, 200)
  t.equal(body.status, 'failed')
  t.same(body.error, { code: 'provider_error', message: 'The provider did not respond.' })
  t.equal(await customer.balance(), 100)
})

t.test('a provider that throws synchronously fails the run', async t => {
  const broken = () => {
    throw new Error('a synchronous error')
  }
  const service = await startService(t, { providers: { sandbox: { ...instantProvider, submit: broken } } })
  const customer = await openAccount(service)
  const { body } = await customer.run(picture, { Prefer: 'wait=10' })
  t.match(body, { status: 'failed', error: { code: 'provider_error' } })
  t.equal(await customer.balance(), 100)
})

t.test('the words of a provider hold no characters that control a terminal', async t => {
  const refuses = async () =>
    ({ kind: 'failed', code: 'content_rejected', message: 'no \u001b[2J\u009b\u202e' }) as const
  const service = await startService(t, { providers: { sandbox: { ...instantProvider, submit: refuses } } })
  const { body } = await (await openAccount(service)).run(picture, { Prefer: 'wait=10' })
  t.equal(body.error?.message, 'no \\u001b[2J\\u009b\\u202e')
})

t.test('a model without a provider that is configured is unavailable and costs nothing', async t => {
  const service = await startService(t, { providers: {} })
  const customer = await openAccount(service)
  for (const path of ['/v1/run', '/v1/run?dry_run=true']) {
    t.match(await customer.post(path, picture), { status: 503, body: { error: { code: 'unavailable' } } })
  }
  t.equal(await customer.balance(), 100)
})

t.test('runs beyond a provider’s slots wait for their turn', async t => {
  const customer = await openAccount(service, { tester: true })
  const runs = await Promise.all(Array.from({ length: 100 }, () => customer.run(sandbox({ delay_ms: 50 }))))
  t.same(new Set(runs.map(run => run.body.status)), new Set(['completed']))
  t.equal(await customer.balance(), 0)
})

t.test('a run continues when its client disconnects', async t => {
  const customer = await openAccount(service, { tester: true })
  const hangUp = new AbortController()
  const sent = fetch(`${customer.url}/v1/run`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${customer.apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(sandbox({ delay_ms: 1500 })),
    signal: hangUp.signal,
  })
  const find = async () => (await customer.send<{ data: Run[] }>('/v1/runs')).body.data[0]
  await until('the run is listed', find)
  hangUp.abort()
  await t.rejects(sent)
  await until('the run has ended', async () => (await find())?.status !== 'processing')
  t.equal((await find())?.status, 'completed')
  t.equal(await customer.balance(), 99)
})

t.test('a value beyond a bound of the only provider is told the bound', async t => {
  const service = await startService(t, { environment: { FAL_KEY: 'id:secret' } })
  const customer = await openAccount(service)
  const { status, body } = await customer.post('/v1/run?dry_run=true', { ...picture, input: { prompt: 'a' } })
  t.equal(status, 400)
  t.match(body.error, {
    code: 'invalid_input',
    errors: [{ path: '/input/prompt', message: 'must have at least 3 characters' }],
  })
})

t.test('an id that is too large for a number is refused with its place, and costs nothing', async t => {
  const customer = await openAccount(service)
  const request = (order: string) => `{"model":"nano-banana-2","input":{"prompt":"x"},"metadata":{"order":${order}}}`
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'order' }
  for (const order of ['12345678901234567890', '12345678901234567891']) {
    const { status, body } = await customer.send('/v1/run', { method: 'POST', headers, body: request(order) })
    t.equal(status, 400)
    t.match(body.error, {
      code: 'invalid_request',
      errors: [{ path: '/metadata/order', message: /send it as a string/ }],
    })
  }
  t.equal(await customer.balance(), 100)
  const { body } = await customer.send('/v1/run', { method: 'POST', headers, body: request('"12345678901234567890"') })
  t.same(body.metadata, { order: '12345678901234567890' })
})
