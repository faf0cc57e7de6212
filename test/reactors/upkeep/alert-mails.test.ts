import { join } from 'node:path'
import t, { type Test } from 'tap'
import { OPERATOR_STREAM } from '../../../schemas/events.ts'
import type { OperatorEvent } from '../../../schemas/operator-events.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { collect } from '../../support/collect.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { startReceiver, status } from '../../support/receiver.ts'
import { openAccount, type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { completion, errorBody, startOpenAi } from '../../support/vendors/openai.ts'
import { reply } from '../../support/vendors/vendor-server.ts'

t.setTimeout(90_000)

const OPERATOR_EMAIL = 'grace@example.com'

const eventsOf = async ({ core }: Service) =>
  (await collect(core.log.readStream(OPERATOR_STREAM, 0))) as Recorded<OperatorEvent>[]

const untilEvents = (service: Service, type: OperatorEvent['type'], count = 1) =>
  until(`${count} events ${type}`, async () => {
    const found = (await eventsOf(service)).filter(event => event.type === type)
    return found.length >= count && found
  })

const startWithOpenAi = async (t: Test, environment: Record<string, string>) => {
  const openAi = await startOpenAi(t)
  openAi.answer = response => reply(response, 401, errorBody('No such key', 'invalid_request_error', 'invalid_api_key'))
  const ofVendor = { OPENAI_API_KEY: 'sk-refused-0001', OPENAI_BASE_URL: openAi.url }
  const service = await startService(t, { environment: { ...ofVendor, ...environment } })
  const customer = await openAccount(service, { credits: 1000 })
  return { openAi, service, run: () => customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } }) }
}

t.test('the operator gets one mail about a key that is refused', async t => {
  const mail = await startMailServer(t)
  const { service, run } = await startWithOpenAi(t, { ...mail.environment, OPERATOR_EMAIL })
  await run()
  await run()
  await untilEvents(service, 'OperatorNoticeDelivered')
  const [raised, ...others] = await untilEvents(service, 'OperatorNoticeRaised')
  t.same(others, [])
  t.match(raised?.data, {
    trouble: { kind: 'provider_refuses', provider: 'openai', account: /^[0-9a-f]{8}$/, reason: 'unauthorized' },
    mail: true,
  })
  t.equal(mail.received.length, 1)
  t.match(mail.received[0], { to: [OPERATOR_EMAIL], text: /Subject: openai refuses its key/ })
  t.match(mail.received[0]?.text, /tollgate providers check/)
  t.notMatch(JSON.stringify([mail.received, await eventsOf(service)]), /sk-/)
  t.notMatch(JSON.stringify(await eventsOf(service)), /@/, 'the log holds no address')
})

t.test('without an address there is an event and no mail, and a key that works ends the alert', async t => {
  const mail = await startMailServer(t)
  const { openAi, service, run } = await startWithOpenAi(t, mail.environment)
  await run()
  t.match(await untilEvents(service, 'OperatorNoticeRaised'), [{ data: { mail: false } }])
  // The account rests for minutes, so another process, which has just started, is the next to ask.
  await service.stop()
  const { core } = service
  openAi.answer = response => reply(response, 200, completion({ content: 'done' }))
  const folder = core.config.dataDir
  const ofVendor = { OPENAI_API_KEY: 'sk-refused-0001', OPENAI_BASE_URL: openAi.url }
  const next = await startService(t, { folder, environment: ofVendor })
  const customer = await openAccount(next, { credits: 1000 })
  t.match((await customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } })).body, { status: 'completed' })
  t.match(await untilEvents(next, 'OperatorTroubleEnded'), [{ data: { number: 1 } }])
  t.equal(mail.received.length, 0)
})

t.test('a sink that keeps failing raises an alert, again after it has worked, and mail is tried again', async t => {
  const mail = await startMailServer(t)
  mail.isFull = true
  const receiver = await startReceiver(t, status(503))
  // Waits take a tenth of their time.
  const timer: Clock['timer'] = (delayMs, callback) => systemClock.timer(delayMs / 10, callback)
  const clock = Object.assign(new ManualClock(Date.now()), { timer })
  const environment = { ...mail.environment, OPERATOR_EMAIL, SEAL_SINK: receiver.url, SEAL_EVENTS: '1' }
  const folder = join(await temporaryFolder(t), 'data')
  const service = await startService(t, { folder, clock, environment })
  await openAccount(service)
  const [failed] = await untilEvents(service, 'OperatorNoticeAttemptFailed')
  t.match(failed?.data, { number: 1, attempt: 1, nextAttemptAt: String })
  t.notMatch(JSON.stringify(failed), /@/)
  t.match(await untilEvents(service, 'OperatorNoticeRaised'), [{ data: { trouble: { kind: 'seal_sink_fails' } } }])
  mail.isFull = false
  clock.advance(6_000)
  await untilEvents(service, 'OperatorNoticeDelivered')
  t.match(mail.received, [{ to: [OPERATOR_EMAIL], text: /Subject: Tollgate cannot copy its seals/ }])
  receiver.answer = status(204)
  await untilEvents(service, 'OperatorTroubleEnded')
})
