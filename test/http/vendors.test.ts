import { readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import type { ModelFamily } from '../../schemas/api/model.ts'
import type { Run } from '../../schemas/api/run.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { collect } from '../support/collect.ts'
import { picture, tinyFilm } from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { COMPLETED, FAL_KEY, startFal } from '../support/vendors/fal.ts'
import { KEY, PNG, startOpenAi } from '../support/vendors/openai.ts'
import { reply, startVendorServer } from '../support/vendors/vendor-server.ts'

const openAi = await startOpenAi(t)
const fal = await startFal(t)
const files = await startVendorServer(t, (_, response) =>
  response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(tinyFilm()),
)
const logged: unknown[] = []
const note = (...entry: unknown[]) => logged.push(entry)
const logger = { isLevelEnabled: () => true, debug: note, info: note, warn: note, error: note, fatal: note }
const environment = {
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: openAi.url,
  FAL_KEY,
  FAL_BASE_URL: fal.url,
  ALLOW_PRIVATE_WEBHOOKS: 'true',
}
const service = await startService(t, { environment, logger })
const customer = await openAccount(service, { credits: 10_000 })

const eventsOf = async (type: string) => {
  const events = await collect(service.core.log.readStream(`account-${customer.accountId}`, 0))
  return events.filter(each => each.type === type)
}

t.test('a text run goes through OpenAI’s client', async t => {
  const { body } = await customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } })
  t.match(body, { status: 'completed', provider: 'openai', output: { text: /hello/ } })
  t.match(openAi.bodies.at(-1), { model: 'gpt-6.1-terra' })
  const [started] = await eventsOf('RunStarted')
  t.match(started?.data, { upstream: { provider: 'openai', model: 'gpt-6.1-terra', account: /^[0-9a-f]{8}$/ } })
})

t.test('a picture goes through OpenAI’s client into the object store', async t => {
  const { body } = await customer.run({ model: 'gpt-image-2-6', input: { prompt: 'a red dot' } })
  t.match(body, { status: 'completed', provider: 'openai' })
  const file = await fetch(String(body.output?.url).replace('//localhost', '//127.0.0.1'))
  t.same(Buffer.from(await file.arrayBuffer()), PNG)
})

t.test('a large picture goes to the object store while it arrives, and none of a failed run is left', async t => {
  const arriving = async () => (await readdir(join(service.core.config.dataDir, 'objects', 'arriving'))).length
  const large = Buffer.concat([PNG, Buffer.alloc(3_000_000)])
  const send = (response: ServerResponse, bytes: Buffer, rest: string) =>
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(`{"data":[{"b64_json":"${bytes.toString('base64')}${rest}`)
  openAi.answer = response => send(response, large, '"}]}')
  const { body } = await customer.run({ model: 'gpt-image-2-6', input: { prompt: 'a red dot' } })
  t.match(body, { status: 'completed' })
  const file = await fetch(String(body.output?.url).replace('//localhost', '//127.0.0.1'))
  t.ok(large.equals(Buffer.from(await file.arrayBuffer())))
  const failing: [Buffer, string][] = [
    [large, '"}]'],
    [large.subarray(0, 1_000_000), '"}]}'],
    [Buffer.concat([Buffer.from('<html>'), large]), '"}]}'],
    [large, '"},{"b64_json":"!"}]}'],
  ]
  for (const [bytes, rest] of failing) {
    openAi.answer = response => send(response, bytes, rest)
    const failed = await customer.run({ model: 'gpt-image-2-6', input: { prompt: 'a red dot', num_images: 2 } })
    t.equal(failed.body.status, 'failed', rest)
  }
  // The files of the failed runs are deleted after their ends.
  await until('no file is left', async () => (await arriving()) === 0)
  let cut: ServerResponse | undefined
  openAi.answer = response => {
    cut = response
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.write(`{"data":[{"b64_json":"${large.toString('base64')}`)
  }
  const broken = customer.run({ model: 'gpt-image-2-6', input: { prompt: 'a red dot' } })
  await until('the file arrives', async () => cut !== undefined && (await arriving()) === 1)
  cut?.destroy()
  t.match((await broken).body, { status: 'failed', error: { code: 'interrupted' } })
  await until('no file is left', async () => (await arriving()) === 0)
  delete openAi.answer
})

t.test('an image of an input reaches OpenAI under its own type and a fitting name', async t => {
  const [jpeg, webp] = [await picture('jpeg'), await picture('webp')]
  const labelled: [label: string, bytes: Buffer, type: string, name: string][] = [
    ['image/jpg', jpeg, 'image/jpeg', 'file.jpg'],
    ['binary/octet-stream', webp, 'image/webp', 'file.webp'],
    ['image/png', jpeg, 'image/jpeg', 'file.jpg'],
  ]
  for (const [label, bytes, type, name] of labelled) {
    const { url } = await startVendorServer(t, ({ path }, response) => {
      if (path === '/share') response.writeHead(307, { Location: '/image' }).end()
      else response.writeHead(200, { 'Content-Type': label }).end(bytes)
    })
    const { body } = await edit(`${url}/share`)
    t.match(body, { status: 'completed', provider: 'openai' }, label)
    t.same(imageIn(openAi.bodies.at(-1)), { name, type, bytes }, label)
  }
})

t.test('what is no whole image never reaches OpenAI, and is refunded', async t => {
  const balance = await customer.balance()
  const sent = openAi.bodies.length
  for (const bytes of [
    '<!doctype html><p>Sign in',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    PNG.subarray(0, -13),
  ]) {
    const { url } = await startVendorServer(t, (_, response) =>
      response.writeHead(200, { 'Content-Type': 'image/png' }).end(bytes),
    )
    const { body } = await edit(url)
    t.match(body, { status: 'failed', error: { code: 'invalid_input', message: /^image_url: The file is / } })
  }
  t.equal(openAi.bodies.length, sent)
  t.equal(await customer.balance(), balance)
})

const edit = (imageUrl: string) =>
  customer.run({ model: 'gpt-image-2-6', input: { prompt: 'a coat', image_url: imageUrl } })

/** The file of a form, under whatever name the model takes it. */
const imageIn = (body: Record<string, unknown> = {}) => body['image'] ?? body['image[]']

t.test('a film is a job at fal, whose progress is streamed and whose file is copied', async t => {
  const states: object[] = [{ status: 'IN_QUEUE', queue_position: 1 }]
  const result = { status: 200, body: { video: { url: `${files.url}/film.mp4`, content_type: 'video/mp4' } } }
  fal.job = { states, result }
  const { run_id } = (await customer.run({ model: 'kling-3-pro', input: { prompt: 'waves at night' } })).body
  const headers = { Authorization: `Bearer ${customer.apiKey}` }
  const events = await fetch(`${service.url}/v1/runs/${run_id}/events`, { headers })
  let streamed = ''
  for await (const piece of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    streamed += piece
    if (states.length === 1 && streamed.includes('"progress":')) states.push({ status: 'IN_PROGRESS' }, COMPLETED)
  }
  t.notMatch(fal.requests[0]?.path, /webhook/, 'this service has no public address')
  t.match(streamed, /event: progress\nid: \d+\ndata: \{"run_id":"run_\w+","progress":0\}\n.*"status":"completed"/s)
  const { body } = await customer.send<Run>(`/v1/runs/${run_id}`)
  t.match(body, { status: 'completed', provider: 'fal' })
  t.match(await eventsOf('RunSubmitted'), [{ data: { jobId: /requests/, upstream: { provider: 'fal' } } }])
  t.equal(fal.requests.filter(({ method }) => method === 'POST').length, 1)
  const file = await fetch(String(body.output?.url).replace('//localhost', '//127.0.0.1'))
  t.same(Buffer.from(await file.arrayBuffer()), tinyFilm())
})

t.test('a model whose providers are off is unavailable', async t => {
  const before = await customer.balance()
  const { status, body } = await customer.run({ model: 'claude-haiku-4-5', input: { prompt: 'hello' } })
  t.equal(status, 503)
  t.match(body, { error: { code: 'unavailable', message: /no provider for claude-haiku-4-5-t2t/ } })
  t.equal(await customer.balance(), before)
  const { body: closed } = await customer.send<ModelFamily>('/v1/models/claude-haiku-4-5')
  t.match(closed, { endpoints: [{ available: false }] })
  const { body: open } = await customer.send<ModelFamily>('/v1/models/gpt-6-1-terra')
  t.match(open, { endpoints: [{ available: true }] })
  t.notHas(open, { endpoints: [{ retires_at: String }] })
  t.match((await customer.send<string>('/llms.txt')).body, /`claude-haiku-4-5`.*unavailable now/)
})

t.test('a refused key is the operator’s fault, in no words of the vendor', async t => {
  openAi.answer = response =>
    reply(response, 401, { error: { message: `Incorrect API key: ${KEY}`, code: 'invalid_api_key' } })
  const { body } = await customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } })
  t.match(body, { status: 'failed', error: { code: 'provider_error' }, credits_refunded: body.credits_charged })
  const seen = inspect([body, logged, await eventsOf('RunFailed')], { depth: 9 })
  t.notMatch(seen, /Incorrect API key/)
  t.match(seen, /unauthorized/)
})

t.test('no key is in the log of events or of the service', async t => {
  const events: unknown[] = []
  for await (const page of service.core.log.readAll(BEFORE_FIRST)) events.push(page)
  const text = JSON.stringify([events, logged], (_, value) => (value instanceof Error ? inspect(value) : value))
  for (const key of [KEY, FAL_KEY, FAL_KEY.split(':')[1] as string]) t.notOk(text.includes(key))
})
