import OpenAI from 'openai'
import t from 'tap'
import type { ErrorBody } from '../../../schemas/api/error.ts'
import type { RunList } from '../../../schemas/api/run.ts'
import { accountStream } from '../../../schemas/events.ts'
import { MAX_LONG_BODY_BYTES } from '../../../schemas/primitives.ts'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { collect } from '../../support/collect.ts'
import { pngWith } from '../../support/sample-files.ts'
import { type Customer, openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { openObjects } from '../../support/uploads.ts'
import { completion, errorBody, KEY, PNG, startOpenAi } from '../../support/vendors/openai.ts'
import { reply, type VendorRequest } from '../../support/vendors/vendor-server.ts'

type Messages = OpenAI.ChatCompletionMessageParam[]

const vendor = await startOpenAi(t)
const seen: VendorRequest[] = []
vendor.answer = (response, request) => {
  seen.push(request)
  reply(response, 200, completion({ content: 'A long story.' }))
}
const folder = await temporaryFolder(t)
const store = await openObjects(folder)
let isFull = false
const objects = Object.assign(Object.create(store), {
  put: (...args: Parameters<typeof store.put>) =>
    isFull ? Promise.reject(new Unavailable('the disk is full')) : store.put(...args),
  receive: () => (isFull ? Promise.reject(new Unavailable('the disk is full')) : store.receive()),
}) as typeof store
const environment = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: vendor.url }
const service = await startService(t, { folder, objects, environment })

const MB = 1024 * 1024

const open = async (credits = 10_000) => {
  const customer = await openAccount(service, { credits })
  const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: customer.apiKey, maxRetries: 0 })
  return {
    customer,
    client,
    ask: (messages: Messages) => client.chat.completions.create({ model: 'gpt-6-1-terra', messages }),
  }
}

const story = (bytes: number): Messages => [
  { role: 'system', content: 'Say what it is.' },
  { role: 'user', content: 'Once upon a time, “there” was \\ a "ledger".\n'.repeat(bytes / 48) },
]

const picture = (bytes: number, fill = 'x') => pngWith(PNG, 'teXt', Buffer.alloc(bytes, fill))

const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`

const pictures = (count: number, bytes: number): Messages => {
  const url = dataUrl(picture(bytes))
  return [{ role: 'user', content: Array(count).fill({ type: 'image_url', image_url: { url } }) }]
}

const lastRun = async (customer: Customer) => (await customer.send<RunList>('/v1/runs?include=input')).body.data[0]

interface StoredInput {
  url?: string
  size_bytes: number
  sha256: string
}

t.test('a long conversation reaches the vendor whole, and the run holds its digest', async t => {
  for (const messages of [story(70_000), story(3 * MB), pictures(200, 1_000)]) {
    const { customer, ask } = await open()
    await ask(messages)
    t.same(JSON.parse(String(seen.at(-1)?.body)).messages, messages)
    const run = await lastRun(customer)
    const { url = '', ...facts } = Object(run?.input?.['messages']) as StoredInput
    const json = JSON.stringify(messages)
    t.same(facts, { size_bytes: Buffer.byteLength(json), sha256: sha256(json) })
    const { status, text } = await customer.send(new URL(url).pathname)
    t.equal(status, 200)
    t.ok(text === json)
    t.ok(run?.output?.will_delete_at)
  }
})

/** The events of an account's runs. */
const eventsOf = async ({ accountId }: Customer, type: string) =>
  (await collect(service.core.log.readStream(accountStream(accountId), 0)))
    .filter(event => event.type === type)
    .map(({ data }) => data as Record<string, unknown>)

t.test('a large image is a file of the run, and the event holds its digest', async t => {
  const { customer, client } = await open()
  const images = [picture(2 * MB), picture(100_000, 'y'), picture(2 * MB)]
  const urls = [...images.map(dataUrl), dataUrl(PNG)]
  const { chat, responses } = client
  const model = 'gpt-6-1-terra'
  const part = (url: string) => ({ type: 'image_url' as const, image_url: { url } })
  const messages: Messages = [{ role: 'user', content: urls.map(part) }]
  const content = urls.map(image_url => ({ type: 'input_image' as const, image_url, detail: 'auto' as const }))
  const asks = {
    chat: () => chat.completions.create({ model, messages }),
    stream: async () => {
      vendor.answer = (response, request) => {
        seen.push(request)
        const events = [{ choices: [{ delta: { content: 'A story.' } }] }, { choices: [{ finish_reason: 'stop' }] }]
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.end([...events.map(each => JSON.stringify(each)), '[DONE]'].map(data => `data: ${data}\n\n`).join(''))
      }
      for await (const _ of await chat.completions.create({ model, messages, stream: true }));
      vendor.answer = answer
    },
    response: () => responses.create({ model, input: [{ role: 'user', content }] }),
    run: () => customer.run({ model, input: { messages } }),
  }
  const { answer } = vendor as Required<typeof vendor>
  for (const [name, ask] of Object.entries(asks)) {
    await ask()
    t.same(JSON.parse(String(seen.at(-1)?.body)).messages, messages, name)
    const run = await lastRun(customer)
    const [shown] = Object(run?.input?.['messages'])
    const [first, second, third, small] = shown.content.map((each: typeof shown) => each.image_url.url)
    t.equal(first, third, 'equal images share a file')
    t.equal(small, dataUrl(PNG))
    const sizes = [images[0], images[1]].map(image => ({ sizeBytes: image?.length, sha256: sha256(image as Buffer) }))
    const { inputFiles } = (await eventsOf(customer, 'RunStarted')).at(-1) as { inputFiles: { objectKey: string }[] }
    t.match(inputFiles, sizes)
    t.equal(inputFiles.length, 2)
    for (const [index, url] of [first, second].entries()) {
      const response = await fetch(url)
      t.equal(response.headers.get('content-type'), 'image/png')
      t.ok(Buffer.from(await response.arrayBuffer()).equals(images[index] as Buffer))
      t.ok(url.endsWith(inputFiles[index]?.objectKey))
    }
    t.ok(run?.output?.will_delete_at)
  }
})

t.test('a long text and a large image are files of one run', async t => {
  const { customer, ask } = await open()
  const messages = [...story(MB), ...pictures(1, 2 * MB), ...story(MB)]
  await ask(messages)
  t.same(JSON.parse(String(seen.at(-1)?.body)).messages, messages)
  const shown = Object((await lastRun(customer))?.input?.['messages']) as StoredInput
  const { text } = await customer.send(new URL(String(shown.url)).pathname)
  t.match(shown, { size_bytes: Buffer.byteLength(text), sha256: sha256(text) })
  const stored = JSON.parse(text)
  const image = await fetch(stored[2].content[0].image_url.url)
  t.ok(Buffer.from(await image.arrayBuffer()).equals(picture(2 * MB)))
})

t.test('a large file that is no image is refused, and costs nothing', async t => {
  const { customer, ask } = await open()
  const before = seen.length
  const url = `data:image/png;base64,${Buffer.alloc(100_000, '<html>').toString('base64')}`
  const refused = ask([{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }])
  const error: unknown = await refused.catch(error => error)
  t.match(error, { status: 400, param: 'messages[0].content[0].image_url.url' })
  const quote = { model: 'gpt-6-1-terra', input: { messages: pictures(1, 2 * MB) } }
  t.equal((await customer.post('/v1/run?dry_run=true', quote)).status, 200)
  t.equal(seen.length, before)
  t.equal(await customer.balance(), 10_000)
})

t.test('a request with large images is repeated by its content', async t => {
  const { customer } = await open()
  const post = (messages: Messages) =>
    customer.run({ model: 'gpt-6-1-terra', input: { messages } }, { 'Idempotency-Key': 'one' })
  const other = pictures(1, 100_001)
  t.equal((await post(pictures(1, 100_000))).status, 200)
  t.equal((await post(pictures(1, 100_000))).headers.get('Idempotent-Replayed'), 'true')
  t.equal((await post(other)).body.error?.code, 'idempotency_mismatch')
})

t.test('a shorter one stays in the event', async t => {
  const { customer, ask } = await open()
  await ask(story(50_000))
  t.same((await lastRun(customer))?.input?.['messages'], story(50_000))
})

t.test('the files of a run are deleted with it, also if the run fails', async t => {
  const { customer, ask } = await open()
  const answer = vendor.answer
  for (const fails of [false, true]) {
    vendor.answer = (response, request) =>
      fails ? reply(response, 400, errorBody('Too long.', 'invalid_request_error')) : answer?.(response, request)
    await ask(story(100_000)).catch(() => undefined)
    const run = await lastRun(customer)
    t.equal(run?.status, fails ? 'failed' : 'completed')
    const due = await service.core.reads.get('due', `output/${run?.run_id}`)
    t.match(due, { task: fails ? 'delete-left' : 'delete-output' })
  }
  if (answer) vendor.answer = answer
})

t.test('without the object store, the run fails and costs nothing', async t => {
  const { customer, ask } = await open()
  isFull = true
  t.teardown(() => {
    isFull = false
  })
  const before = seen.length
  await t.rejects(ask(story(100_000)), /could not be stored/)
  await t.rejects(ask(pictures(1, 100_000)), /could not be stored/)
  t.equal(seen.length, before, 'nothing reaches the vendor')
  t.equal(await customer.balance(), 10_000)
})

t.test('a body may have 32 MB if it states its length', async t => {
  const { customer, ask } = await open()
  t.ok(await ask(pictures(2, 11 * MB)))
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${customer.apiKey}`, ...headers },
      body,
      duplex: 'half',
    } as RequestInit)
  const tooLarge = await post(Buffer.alloc(MAX_LONG_BODY_BYTES + 1, ' '))
  t.equal(tooLarge.status, 413)
  t.match(((await tooLarge.json()) as ErrorBody).error.message, /larger than 33554432 bytes/)
  const body = JSON.stringify({ model: 'gpt-6-1-terra', messages: story(2 * MB) })
  const undeclared = await post(new Blob([body]).stream())
  t.equal(undeclared.status, 413)
  t.match(((await undeclared.json()) as ErrorBody).error.message, /larger than 1048576 bytes/)
})

t.test('what runs keep in memory is limited for each account', async t => {
  const { customer, ask } = await open(100_000)
  const { ask: otherAsks } = await open()
  const held: (() => void)[] = []
  const answer = vendor.answer
  vendor.answer = (response, request) => held.push(() => answer?.(response, request))
  const asked = [ask(story(20 * MB)), ask(story(20 * MB))]
  for (const each of asked) each.catch(() => undefined)
  await until('both are with the vendor', async () => held.length === 2)
  await t.rejects(ask(story(MB)), /which is the limit/)
  const other = otherAsks(story(MB))
  await until('another account has room', async () => held.length === 3)
  const short = ask([{ role: 'user', content: 'hello' }])
  await until('short conversations have room', async () => held.length === 4)
  vendor.answer = answer as NonNullable<typeof answer>
  for (const go of held) go()
  await Promise.all([...asked, other, short])
  t.ok(await ask(story(MB)), 'the room is free again')
  t.equal((await customer.send<RunList>('/v1/runs')).body.data.length, 4)
})

t.test('the log is sound', async t => {
  t.same((await verifyLog(service.core.log, { isDense: true }))?.faults, [])
})
