import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { KeyList } from '../../schemas/api/key.ts'
import type { Run, RunList } from '../../schemas/api/run.ts'
import type { UploadList } from '../../schemas/api/upload.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { instantProvider, startService } from '../support/service.ts'
import { verified } from '../support/verified.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const browser = new BrowserClient(service.url)
await browser.signIn(service, 'ada@example.com')

const setMode = (mode: string, back = '') => browser.post('/console/mode', { mode, back })
const runsOf = async () => (await browser.send<RunList>('GET', '/v1/runs')).body.data.map(({ run_id }) => run_id)
const run = async () => (await browser.send<Run>('POST', '/v1/run', picture)).body

t.test('a session works in live mode until its browser switches, and sees the runs of its mode', async t => {
  const live = await run()
  t.match(live, { livemode: true, credits_charged: 10 })
  t.match(await setMode('test', '/console/runs?x=1'), { status: 303, location: '/console/runs?x=1' })
  t.same(await runsOf(), [])
  t.match((await browser.get('/console/settings')).text, 'Test mode: nothing is charged.')

  const test = await run()
  t.match(test, { livemode: false, credits_charged: 0, live_credits: 10, provider: 'sandbox' })
  t.same(await runsOf(), [test.run_id])
  t.equal((await browser.send('GET', `/v1/runs/${live.run_id}`)).status, 404)
  t.match(await browser.send('GET', '/v1/balance'), { body: { credits_balance: 90 } })
  t.match(await browser.send('GET', '/v1/ledger'), { body: { data: [] } })
  const asked = { filename: 'a.png', mime_type: 'image/png', size_bytes: 100 }
  t.equal((await browser.send('POST', '/v1/uploads/presigned', asked)).status, 200)

  await setMode('live')
  t.same(await runsOf(), [live.run_id])
  t.same((await browser.send<UploadList>('GET', '/v1/uploads')).body.data, [])
  t.match((await browser.send('GET', `/v1/runs/${test.run_id}`)).body, { livemode: false }, 'by its ID')
})

t.test('a session in test mode manages test keys, and changes the settings of the account', async t => {
  await browser.send('POST', '/v1/keys', { name: 'live' })
  await setMode('test')
  const refused = await browser.send<ErrorBody>('POST', '/v1/keys', { name: 'another' })
  t.match([refused.status, refused.body.error.message], [403, /test key can only create test keys/])
  t.equal((await browser.send('POST', '/v1/keys', { name: 'ci', livemode: false })).status, 200)
  t.match((await browser.send<KeyList>('GET', '/v1/keys')).body.data, [{ name: 'ci' }])
  t.equal((await browser.send('PUT', '/v1/notices', { email: false })).status, 200)
  await setMode('live')
  t.match((await browser.send<KeyList>('GET', '/v1/keys')).body.data, [{ name: 'ci' }, { name: 'live' }])
})

t.test('the switch leads only to pages of the console, and signing out ends test mode', async t => {
  for (const back of [
    'https://evil.example/',
    '//evil.example/console/',
    '/\\evil.example/console/x',
    'javascript:x',
    '/',
  ])
    t.equal((await setMode('test', back)).location, '/console', back)
  await browser.post('/console/sign-out')
  t.notOk(browser.cookies.has('tollgate-mode'))
})

t.test('auditors accept the test runs of sessions', async t => {
  const { faults } = await verified(await collect(service.core.log.readAll(BEFORE_FIRST)), { isDense: true })
  t.same(faults, [])
})
