import t, { type Test } from 'tap'
import { MAX_TEXT_BYTES } from '../../schemas/primitives.ts'
import type { Job } from '../../src/ports/provider.ts'
import { boundTo } from '../support/bound-to.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { type Fault, MEDIA } from '../support/vendor.ts'
import { offer, order, syncOrder, vendorFamily } from '../support/vendor-families.ts'
import { startVendorService } from '../support/vendor-service.ts'
import { startVendorServer } from '../support/vendors/vendor-server.ts'

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
  const texts = [longest, `${longest}x`, '\n'.repeat(MAX_TEXT_BYTES / 2), markup]
  const expected = [...texts]
  const submit = async () => ({ kind: 'done' as const, media: [], text: String(texts.shift()) })
  const service = await startService(t, {
    providers: { vendor: { ...instantProvider, submit } },
    bindingsOf: boundTo('vendor'),
  })
  await offer(service.core, vendorFamily())
  const customer = await openAccount(service)
  t.same((await customer.run(syncOrder())).body.output, { text: longest })
  for (const text of expected.slice(1)) {
    const { status, output } = (await customer.run(syncOrder())).body
    t.equal(status, 'completed')
    t.same(Object.keys(output ?? {}), ['url', 'will_delete_at'])
    const answer = await fetch(String(output?.url))
    t.match(Object.fromEntries(answer.headers), {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    t.ok((await answer.text()) === text)
  }
  t.equal(await customer.balance(), 96)
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
    film: 'The address sent more than 256 MB.',
    page: 'The provider returned a document instead of an image, video or sound.',
    gone: 'The address answered with status 403.',
  })) {
    const error = { code: 'provider_error', message: `The result could not be stored. ${reason}` }
    const { body } = await customer.run(syncOrder({ prompt }))
    t.same([body.status, body.credits_refunded, body.error], ['failed', 1, error], prompt)
  }
  t.equal(await customer.balance(), 100)
})
