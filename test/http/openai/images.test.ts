import type OpenAI from 'openai'
import t from 'tap'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import type { ImageAnswer } from '../../../schemas/api/openai/images.ts'
import type { RunList } from '../../../schemas/api/run.ts'
import { openAiClient } from '../../support/openai-client.ts'
import { recorded } from '../../support/recorded.ts'
import { type Customer, instantProvider, openAccount, startService } from '../../support/service.ts'
import { MEDIA } from '../../support/vendor.ts'
import { errorBody, KEY, PNG, startOpenAi } from '../../support/vendors/openai.ts'
import { reply } from '../../support/vendors/vendor-server.ts'

const vendor = await startOpenAi(t)
const ofVendor = await startService(t, { environment: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: vendor.url } })
const service = await startService(t, { providers: { sandbox: instantProvider } })
const customer = await openAccount(service, { credits: 10_000 })
const { client, sent } = openAiClient(customer, { maxRetries: 0 })

const prompt = 'a lighthouse'
const runsOf = async (owner: Customer) => (await owner.send<RunList>('/v1/runs?include=input')).body.data
const fetchBytes = async (url = '') =>
  Buffer.from(await (await fetch(url.replace('//localhost', '//127.0.0.1'))).arrayBuffer())

t.test('pictures of OpenAI are a run, and have the form of its API', async t => {
  const owner = await openAccount(ofVendor)
  const { client, sent } = openAiClient(owner)
  const { created, data, usage } = await client.images.generate({
    ...{ model: 'gpt-image-2-6', prompt, n: 2, size: '1536x1024', quality: 'low', output_format: 'webp' },
    ...{ background: 'auto', user: 'u-17', response_format: 'url' },
  })
  t.match(vendor.bodies.at(-1), { n: 2, size: '1536x1024', quality: 'low', output_format: 'webp' })
  const [run] = await runsOf(owner)
  t.match(run, { model: 'gpt-image-2-6', status: 'completed', metadata: { user: 'u-17' } })
  t.equal(created, Math.floor(Date.parse(run?.created_at ?? '') / 1000))
  t.same(
    data?.map(({ url }) => url),
    run?.output?.urls,
  )
  t.same(await fetchBytes(data?.[1]?.url), PNG)
  t.match(usage, { credits: 1.6, run_id: run?.run_id })
  t.equal(sent[0]?.headers.get('Tollgate-Run'), run?.run_id)
  t.equal(await owner.balance(), 98.4)
})

t.test('the example is the answer of the service', async t => {
  const { body } = await customer.post('/v1/images/generations', examples.requests.openAiImages)
  recorded(t, 'openAiImages', body)
})

t.test('the files themselves are in the answer on request', async t => {
  for (const size of [1, 2, 3, 200_000]) {
    const bytes = Buffer.concat([PNG, Buffer.alloc(size, 7)])
    vendor.answer = response =>
      reply(response, 200, { created: 1, data: [PNG, bytes].map(file => ({ b64_json: file.toString('base64') })) })
    const { client } = openAiClient(await openAccount(ofVendor))
    const asked = { model: 'gpt-image-2-6', prompt, n: 2, quality: 'low', response_format: 'b64_json' } as const
    const { data, usage } = await client.images.generate(asked)
    t.same(
      data?.map(({ b64_json = '' }) => Buffer.from(b64_json, 'base64')),
      [PNG, bytes],
    )
    t.match(usage, { credits: 2 })
  }
  delete vendor.answer
})

t.test('programs for GPT Image get the files, as from OpenAI’s API', async t => {
  const { data } = await client.images.generate({ model: 'gpt-image-2-6', prompt })
  t.same(data, [{ b64_json: MEDIA.toString('base64') }])
})

t.test('a size selects the ratio and the resolution of a model', async t => {
  const cases: [model: string, size: string, input: object][] = [
    ['nano-banana-2', '1024x1024', { aspect_ratio: '1:1', resolution: '1K' }],
    ['nano-banana-2', '1536x1024', { aspect_ratio: '3:2', resolution: '1K' }],
    ['nano-banana-2', '4096x4096', { aspect_ratio: '1:1', resolution: '4K' }],
    ['nano-banana-2', 'auto', { aspect_ratio: 'auto', resolution: '1K' }],
    ['flux-2-pro', '1024x1024', { aspect_ratio: '1:1', resolution: '1 MP' }],
    ['flux-2-pro', '720x720', { aspect_ratio: '1:1', resolution: '0.5 MP' }],
    ['qwen-image', '1024x1024', { aspect_ratio: '1:1' }],
    ['qwen-image', 'auto', { aspect_ratio: '16:9' }],
    ['z-image-turbo', '1536x1024', { width: 1536, height: 1024 }],
    ['recraft-v3', '1820x1024', { size: '1820x1024' }],
    ['recraft-v3', 'auto', { size: '1024x1024' }],
    ['gpt-image-2-6', 'auto', { size: 'auto' }],
  ]
  for (const [model, size, input] of cases) {
    await client.images.generate({ model, prompt, size })
    t.match((await runsOf(customer))[0], { model, input }, `${model} ${size}`)
  }
})

t.test('parameters of a model, and its endpoints, may be named', async t => {
  const further = { model: 'nano-banana-2-t2i', prompt, seed: 7, num_images: 2 }
  const { data } = await client.images.generate(further)
  t.equal(data?.length, 2)
  t.match((await runsOf(customer))[0], { endpoint: 'nano-banana-2-t2i', input: { seed: 7, num_images: 2 } })
  t.same(await fetchBytes(data?.[0]?.url), MEDIA)
})

t.test('what a model lacks is refused with its name and costs nothing', async t => {
  const cases: [parameters: object, param: string, message: RegExp][] = [
    [{ size: '1792x1024' }, 'size', /one of the model’s ratios: auto, 1:1/],
    [{ size: '256x256' }, 'size', /about as many pixels .*1K, 2K, 4K/],
    [{ size: '3840x2160' }, 'size', /about as many pixels/],
    [{ size: 'huge' }, 'size', /such as 1024x1024/],
    [{ size: '0x0' }, 'size', /such as 1024x1024/],
    [{ model: 'gpt-image-2-6', size: '1024x1025' }, 'size', /must be one of 1024x1024/],
    [{ model: 'z-image-turbo', size: '64x64' }, 'size', /must be at least/],
    [{ size: '1024x1024', aspect_ratio: '1:1' }, 'aspect_ratio', /the same as size/],
    [{ n: 9 }, 'n', /must be at most 4/],
    [{ n: 2, num_images: 2 }, 'num_images', /the same as n/],
    [{ num_images: 9 }, 'num_images', /must be at most 4/],
    [{ model: 'recraft-v3', n: 2 }, 'n', /must be 1, since/],
    [{ quality: 'hd' }, 'quality', /must be/],
    [{ output_format: 'gif' }, 'output_format', /must be one of png, jpeg, webp/],
    [{ response_format: 'file' }, 'response_format', /must be one of url, b64_json/],
    [{ stream: true }, 'stream', /must be false/],
    [{ style: 'vivid' }, 'style', /unknown/],
    [{ constructor: 'a' }, 'constructor', /unknown/],
    [{ prompt: '' }, 'prompt', /at least 1 character/],
    [{ model: 'gpt-6-1-terra' }, 'model', /output_type image, not text/],
    [{ model: 'veo-3-1' }, 'model', /output_type image, not video/],
  ]
  const [balance, [last]] = [await customer.balance(), await runsOf(customer)]
  for (const [parameters, param, message] of cases) {
    const asked = { model: 'nano-banana-2', prompt, ...parameters } as OpenAI.ImageGenerateParamsNonStreaming
    await t.rejects(
      client.images.generate(asked),
      { status: 400, type: 'invalid_request_error', param, message },
      JSON.stringify(parameters),
    )
  }
  t.equal(await customer.balance(), balance)
  t.equal((await runsOf(customer))[0]?.run_id, last?.run_id)
  await client.images.generate({ model: 'nano-banana-2', prompt, n: 1, quality: 'auto', moderation: 'auto' })
  t.equal(sent.at(-1)?.status, 200)
})

t.test('a failure of the vendor is an error', async t => {
  vendor.answer = response => reply(response, 500, errorBody('The server had an error', 'server_error'))
  const owner = await openAccount(ofVendor)
  const asked = openAiClient(owner, { maxRetries: 0 }).client.images.generate({ model: 'gpt-image-2-6', prompt })
  await t.rejects(asked, { status: 502, code: 'provider_error' })
  delete vendor.answer
  t.equal(await owner.balance(), 100)
})

t.test('an answer that breaks off is sent again, and is charged once', async t => {
  const large = Buffer.concat([PNG, Buffer.alloc(20_000_000)])
  vendor.answer = response => reply(response, 200, { created: 1, data: [{ b64_json: large.toString('base64') }] })
  const owner = await openAccount(ofVendor)
  const body = { model: 'gpt-image-2-6', prompt, quality: 'low', response_format: 'b64_json' }
  const post = (attempt: number) =>
    fetch(`${owner.url}/v1/images/generations`, {
      method: 'POST',
      headers: {
        ...{ Authorization: `Bearer ${owner.apiKey}`, 'Content-Type': 'application/json' },
        'X-Stainless-Retry-Count': String(attempt),
      },
      body: JSON.stringify(body),
    })
  const broken = (await post(0)).body?.getReader()
  await broken?.read()
  await broken?.cancel()
  const { data, usage } = (await (await post(1)).json()) as ImageAnswer
  delete vendor.answer
  t.ok(large.equals(Buffer.from(data[0]?.b64_json ?? '', 'base64')))
  t.match(await runsOf(owner), [{ run_id: usage.run_id }])
  t.equal((await runsOf(owner)).length, 1)
  t.equal(await owner.balance(), 99)
})
