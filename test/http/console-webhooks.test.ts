import t from 'tap'
import type { Run } from '../../schemas/api/run.ts'
import { BrowserClient, signedInAt } from '../support/browser-client.ts'
import { picture } from '../support/client.ts'
import { startReceiver, status } from '../support/receiver.ts'
import { instantProvider, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }
const service = await startService(t, { environment, providers: { sandbox: instantProvider } })
const browser = new BrowserClient(service.url)
await browser.signIn(service, 'ada@example.com')

const secretOn = (html: string) => /<code id="secret">(whsec_[^<]+)</.exec(html)?.[1]

t.test('the secret is shown on demand, and rotated once a day', async t => {
  const { text } = await browser.get('/console/webhooks')
  t.notMatch(text, 'whsec_')
  const [, guide = '', section] = /<a href="([^"#]+)#([^"]+)">verifies webhooks/.exec(text) ?? []
  t.match((await browser.get(guide)).text, `<h2 id="${section}">`)
  const shown = await browser.post('/console/webhooks/secret')
  t.equal(shown.headers.get('Cache-Control'), 'no-store')
  const secret = secretOn(shown.text)
  t.match(await browser.send('GET', '/v1/webhooks/secret'), { body: { secret } })
  const rotated = await browser.post('/console/webhooks/secret/rotate')
  t.match(rotated.text, /The secret before signs too until/)
  t.not(secretOn(rotated.text), secret)
  t.notMatch(rotated.text, 'Rotate the secret')
  t.equal((await browser.post('/console/webhooks/secret/rotate')).status, 429)
})

t.test('a test shows what the receiver answered', async t => {
  const receiver = await startReceiver(t)
  t.match(
    (await browser.post('/console/webhooks/test', { url: receiver.url })).text,
    /accepted the test with 204\. It took/,
  )
  t.match(receiver.deliveries[0]?.event, { type: 'webhook.test', livemode: true })
  receiver.answer = status(503)
  t.match(
    (await browser.post('/console/webhooks/test', { url: receiver.url })).text,
    /class="fault" role="status">.*503/,
  )
  const fault = await browser.post('/console/webhooks/test', { url: 'gopher://<b>' })
  t.match([fault.status, fault.text], [400, /id="url-fault"/])
  t.notMatch(fault.text, '<b>')
})

t.test('deliveries are listed with their attempts, and sent again', async t => {
  const receiver = await startReceiver(t)
  const { body: run } = await browser.send<Run>('POST', '/v1/run', { ...picture, webhook_url: receiver.url })
  const page = () => browser.get('/console/webhooks')
  const isDelivered = async () => /badge good">Delivered/.test((await page()).text)
  await until('the webhook is delivered', isDelivered)
  t.match((await page()).text, /Accepted with 204.*1 attempt</s)
  t.match(await browser.post(`/console/webhooks/${run.run_id}/resend`), {
    status: 303,
    location: '/console/webhooks#deliveries',
  })
  await receiver.until(2)
  t.notMatch((await browser.get('/console/webhooks?status=abandoned')).text, run.run_id)
  t.equal((await browser.post('/console/webhooks/run_00000000000000000000000000/resend')).status, 404)
  await browser.post('/console/mode', { mode: 'test' })
  const test = await page()
  t.notMatch(test.text, run.run_id, 'test mode has its own')
  t.notMatch(test.text, 'Rotate the secret')
})

t.test('a receiver that fails is told as failing, with its reason and the time until the next attempt', async t => {
  const receiver = await startReceiver(t, status(503))
  const grace = await signedInAt(service, 'grace@example.com')
  const { body: run } = await grace.send<Run>('POST', '/v1/run', {
    ...picture,
    webhook_url: `${receiver.url}hooks?a=1`,
  })
  const { host } = new URL(receiver.url)
  const text = await until('the first attempt has failed', async () => {
    const page = await grace.get('/console/webhooks?status=pending')
    return page.text.includes('>Failing</span>') && page.text
  })
  t.match(text, new RegExp(`<a href="/console/runs/${run.run_id}" data-item.*<strong>${host}</strong>.*/hooks\\?a=1`))
  t.match(text, /aria-current="page">Failing<\/a>/)
  t.match(text, /next <time datetime="[^"]+" title="[^"]+ UTC">in (a minute|\d+ min)</)
  t.match(text, /class="reason muted"><div class="cut" title="[^"]*503[^"]*">[^<]*503/)
})
