import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { MAX_TEXT_BYTES } from '../../../schemas/primitives.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import type { Done, Job, Media } from '../../../src/ports/provider.ts'
import { boundTo } from '../../support/bound-to.ts'
import { endpoint, family, parameters } from '../../support/catalog-samples.ts'
import { collect } from '../../support/collect.ts'
import { silentLogger } from '../../support/engine.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'
import { type Fault, MEDIA } from '../../support/vendor.ts'
import { offer, order, syncOrder, vendorFamily } from '../../support/vendor-families.ts'
import { startVendorService } from '../../support/vendor-service.ts'
import { startVendorServer } from '../../support/vendors/vendor-server.ts'

const start = async (t: Test, environment: Record<string, string>) => {
  const { vendor, service } = await startVendorService(t, { environment })
  return { vendor, customer: await openAccount(service) }
}

const { vendor, customer } = await start(t, { ALLOW_PRIVATE_WEBHOOKS: 'true' })
const wait = { Prefer: 'wait=30' }

for (const [mode, orderIn] of Object.entries({ async: order, sync: syncOrder })) {
  t.test(`${mode}: a file at a provider's URL is copied and served by the service`, async t => {
    const { body } = await customer.run(orderIn({ result: 'media' }), wait)
    t.equal(body.status, 'completed')
    const url = String(body.output?.url)
    t.match(url, /^http:\/\/localhost:\d+\/cdn\/outputs\/[0-9a-f]{32}\.png$/)
    for (const time of ['first', 'second']) {
      const answer = await fetch(url)
      t.match(Object.fromEntries(answer.headers), { 'content-type': 'image/png', 'content-length': `${MEDIA.length}` })
      t.ok(MEDIA.equals(Buffer.from(await answer.arrayBuffer())), time)
    }
    t.match(vendor.tally(body.run_id), { copies: 1 })
  })

  t.test(`${mode}: one file where two were asked for fails the run and is refunded`, async t => {
    const { body } = await customer.run(orderIn({ result: 'media', num_images: 2 }), wait)
    const error = { code: 'provider_error', message: 'The provider returned 1 of 2 files.' }
    t.match(body, { status: 'failed', credits_refunded: 1, error })
  })

  for (const act of [500, 404, 301, 'lose'] as const)
    t.test(`${mode}: a copy that fails (${act}) fails the run and is refunded`, async t => {
      const before = await customer.balance()
      const faults: Fault[] = [{ step: 'copied', act, times: 99 }]
      const { status, body } = await customer.run(orderIn({ result: 'media', faults }), wait)
      t.equal(status, 200)
      const error = { code: 'provider_error', message: 'The result could not be stored.' }
      t.match(body, { status: 'failed', credits_refunded: 1, error })
      t.notOk('output' in body)
      t.equal(await customer.balance(), before)
    })
}

t.test('a private address is not fetched unless allowed', async t => {
  const { vendor, customer } = await start(t, {})
  const { body } = await customer.run(order({ result: 'media' }), wait)
  t.match(body, { status: 'failed', credits_refunded: 1, error: { code: 'provider_error' } })
  t.match(vendor.tally(body.run_id), { jobs: 1, copies: 0 })
  t.equal(await customer.balance(), 100)
})

t.test('a text too large for an event is a text file', async t => {
  const longest = 'x'.repeat(MAX_TEXT_BYTES - 2)
  const markup = `<script>${'é'.repeat(MAX_TEXT_BYTES / 2)}</script>`
  const texts = [longest, `${longest}x`, `x${'\n'.repeat(MAX_TEXT_BYTES / 2)}`, markup]
  const expected = [...texts]
  const submit = async () => ({ kind: 'done' as const, media: [], text: String(texts.shift()) })
  const service = await startService(t, {
    providers: { vendor: { ...instantProvider, submit } },
    bindingsOf: boundTo('vendor'),
  })
  await offer(service.core, family('writer', { outputType: 'text' }, [endpoint('t2t')]))
  const customer = await openAccount(service)
  const request = { model: 'writer', input: { prompt: 'a story' } }
  t.same((await customer.run(request)).body.output, { text: longest })
  for (const text of expected.slice(1)) {
    const { status, output } = (await customer.run(request)).body
    t.equal(status, 'completed')
    t.same(Object.keys(output ?? {}), ['url', 'provenance', 'will_delete_at'])
    const answer = await fetch(String(output?.url))
    t.match(Object.fromEntries(answer.headers), {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    t.ok((await answer.text()) === text)
  }
  t.equal(await customer.balance(), 60)
})

t.test('a text beside images is a file after them', async t => {
  const submit = async () => ({
    kind: 'done' as const,
    media: [{ mimeType: 'image/png', bytes: MEDIA }],
    text: 'x'.repeat(MAX_TEXT_BYTES),
  })
  const service = await startService(t, {
    providers: { vendor: { ...instantProvider, submit } },
    bindingsOf: boundTo('vendor'),
  })
  await offer(service.core, vendorFamily())
  const { urls, url, text } = (await (await openAccount(service)).run(syncOrder())).body.output ?? {}
  t.same([urls?.map(each => each.split('.').at(-1)), url, text], [['png', 'txt'], undefined, undefined])
})

t.test('a file that is too large, a document or gone fails the run with words that say so', async t => {
  const files = await startVendorServer(t, ({ path }, response) => {
    if (path === '/film') response.writeHead(200, { 'Content-Length': 300 * 1024 * 1024 }).write('....ftypmp42')
    else if (path === '/page') response.end('<!doctype html><title>Expired</title>')
    else response.writeHead(403).end()
  })
  const submit = async ({ input }: Job) => ({
    kind: 'done' as const,
    media: [{ mimeType: 'video/mp4', url: `${files.url}/${input['prompt']}` }],
  })
  const service = await startService(t, {
    environment: { ALLOW_PRIVATE_WEBHOOKS: 'true' },
    providers: { vendor: { ...instantProvider, submit } },
    bindingsOf: boundTo('vendor'),
  })
  await offer(service.core, vendorFamily())
  const customer = await openAccount(service)
  for (const [prompt, reason] of Object.entries({
    film: 'The result could not be stored. The address sent more than 64 MB.',
    page: 'The provider returned a text instead of an image.',
    gone: 'The result could not be stored. The address answered with status 403.',
  })) {
    const error = { code: 'provider_error', message: reason }
    const { body } = await customer.run(syncOrder({ prompt }))
    t.same([body.status, body.credits_refunded, body.error], ['failed', 1, error], prompt)
  }
  t.equal(await customer.balance(), 100)
})

t.test(
  'less or something else than an endpoint promises fails, is refunded, and the log names the binding',
  async t => {
    const png = { mimeType: 'image/png', bytes: MEDIA }
    const results: Record<string, [type: 'i' | 'v' | 'a' | 't', result: Omit<Done, 'kind'>, message: string]> = {
      'three of four images': ['i', { media: [png, png, png] }, 'The provider returned 3 of 4 files.'],
      'text for images': ['i', { media: [], text: 'a lake' }, 'The provider returned 0 of 4 files.'],
      'cut images': [
        'i',
        { media: Array(4).fill({ ...png, bytes: MEDIA.subarray(0, 50) }) },
        'The provider returned an image that is not complete.',
      ],
      'an image for a video': [
        'v',
        { media: [png] },
        'The provider returned a file of the type image/png instead of a video.',
      ],
      'words for a sound': [
        'a',
        { media: [{ mimeType: 'audio/mpeg', bytes: Buffer.from('voice unavailable') }] },
        'The provider returned a text instead of a sound.',
      ],
      'no text': ['t', { media: [png], text: ' ' }, 'The provider returned no text.'],
    }
    const work = { units: { seconds: 2 } }
    const submit = async ({ input }: Job): Promise<Done> => {
      const [, result] = results[String(input['prompt'])] ?? []
      return { kind: 'done', media: [], ...result, work }
    }
    const lines: [fields: object, message: string][] = []
    const error = (fields: object, message: string) => void lines.push([fields, message])
    const service = await startService(t, {
      providers: { vendor: { ...instantProvider, submit } },
      bindingsOf: boundTo('vendor'),
      logger: { ...silentLogger, error },
    })
    const parametersSchema = parameters({ num_images: { type: 'integer' } })
    const kinds = ['t2i', 't2v', 't2a', 't2t'] as const
    const families = kinds.map(kind => family(`of-${kind.at(-1)}`, {}, [endpoint(kind, { parametersSchema })]))
    await offer(service.core, ...families)
    const customer = await openAccount(service)
    for (const [prompt, [type, , message]] of Object.entries(results)) {
      const input = { prompt, ...(type === 'i' && { num_images: 4 }) }
      const { body } = await customer.run({ model: `of-${type}`, input })
      t.same(
        [body.status, body.credits_refunded, body.error],
        ['failed', 10, { code: 'provider_error', message }],
        prompt,
      )
      const [[fields, line] = [{}, '']] = lines.splice(0)
      t.match(
        fields,
        { runId: body.run_id, endpoint: `of-${type}-t2${type}`, provider: 'vendor', model: String },
        prompt,
      )
      t.match(line, /^a provider did not return what the endpoint promises/)
    }
    t.equal(await customer.balance(), 100)
    // The vendor may bill all of it.
    const events = (await collect(service.core.log.readStream(`account-${customer.accountId}`, 0))).flat()
    const costs = events.filter(({ type }) => type === 'ProviderCostRecorded')
    t.match(
      costs.map(({ data }) => data),
      Object.keys(results).map(() => ({ units: { seconds: 2 } })),
    )
  },
)

t.test('an image run keeps as many images as were asked for', async t => {
  const submit = async (): Promise<Done> => ({ kind: 'done', media: Array(3).fill({ mimeType: '', bytes: MEDIA }) })
  const service = await startService(t, {
    providers: { vendor: { ...instantProvider, submit } },
    bindingsOf: boundTo('vendor'),
  })
  await offer(service.core, vendorFamily())
  const { status, output } = (await (await openAccount(service)).run(syncOrder())).body
  t.same([status, output?.urls?.length], ['completed', 1])
})

t.test('a signed picture is kept byte for byte, and the run says where it comes from', async t => {
  // Signed by c2pa-ts with a key that was thrown away. Its manifest covers every other byte of the file.
  const signed = await readFile('test/fixtures/signed.png')
  const files = await startVendorServer(t, (_, response) => response.end(signed))
  const results: Media[] = [
    { mimeType: 'image/png', bytes: signed },
    { mimeType: 'image/png', url: `${files.url}/signed` },
    { mimeType: 'image/png', bytes: MEDIA },
  ]
  const submit = async (): Promise<Done> => ({ kind: 'done', media: results })
  const service = await startService(t, {
    environment: { ALLOW_PRIVATE_WEBHOOKS: 'true' },
    providers: { vendor: { ...instantProvider, submit } },
    bindingsOf: boundTo('vendor'),
  })
  await offer(service.core, vendorFamily())
  const customer = await openAccount(service)
  const { body } = await customer.run(syncOrder({ num_images: 3 }))
  const { urls = [], provenance } = body.output ?? {}
  const [first, second, third] = await Promise.all(
    urls.map(async url => Buffer.from(await (await fetch(url)).arrayBuffer())),
  )
  t.ok(first?.equals(signed) && second?.equals(signed) && third?.equals(MEDIA))
  const maker = { provider: 'vendor', model: 'vendor' }
  const present = { sha256: sha256(signed), c2pa: 'present', ...maker }
  t.same(provenance, [present, present, { sha256: sha256(MEDIA), c2pa: 'absent', ...maker }])
  const events = (await collect(service.core.log.readStream(`account-${customer.accountId}`, 0))).flat()
  const artifacts = [present, present, { c2pa: 'absent', sha256: sha256(MEDIA) }].map(({ sha256, c2pa }) => ({
    sha256,
    c2pa,
  }))
  t.match(events.find(({ type }) => type === 'RunCompleted')?.data, { output: { artifacts } })
})
