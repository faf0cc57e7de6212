import t from 'tap'
import { isAcceptance } from '../../../schemas/account-events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { picture } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { startReceiver, untilRecorded } from '../../support/receiver.ts'
import { rewritten } from '../../support/rewritten.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'
import { verified } from '../../support/verified.ts'

const service = await startService(t, {
  environment: { ALLOW_PRIVATE_WEBHOOKS: 'true' },
  providers: { sandbox: instantProvider },
})
const { log } = service.core
const receiver = await startReceiver(t)
const customer = await openAccount(service)
const { body } = await customer.run({ ...picture, webhook_url: receiver.url })
await untilRecorded(log, 1, customer.accountId)
await customer.send(`/v1/runs/${body.run_id}/deliveries`, { method: 'POST' })
await untilRecorded(log, 3, customer.accountId)
await customer.send('/v1/webhooks/secret/rotate', { method: 'POST' })
await customer.post('/v1/webhooks/test', { url: receiver.url })
const events = await collect(log.readAll(BEFORE_FIRST))
await service.stop()

const eventOf = (type: string) => events.find(event => event.type === type) as RawEvent
const withAfter = (event: RawEvent, added: RawEvent) =>
  events.flatMap(each => (each === event ? [each, { ...added, id: crypto.randomUUID() }] : [each]))
const withData = (event: RawEvent, data: object) =>
  events.map(each => (each === event ? { ...each, data: { ...(each.data as object), ...data } } : each))

const [ended, resent, rotated, requested, tested] = [
  'RunCompleted',
  'WebhookRedeliveryRequested',
  'WebhookSecretRotated',
  'WebhookTestRequested',
  'WebhookTested',
].map(eventOf) as [RawEvent, RawEvent, RawEvent, RawEvent, RawEvent]

t.test('a log with a resend, a rotation and a test is clean, with or without the result of the test', async t => {
  for (const log of [events, events.filter(event => event !== tested)]) {
    const { faults, notes } = await verified(rewritten(log), { isDense: true })
    t.same([...faults, ...notes], [])
  }
})

/** What a log would say that was rewritten, and what is reported. */
const untrue: Record<string, { log: RawEvent[]; what: RegExp }> = {
  'a resend before the run has ended': {
    log: events.flatMap(each => (each === resent ? [] : each === ended ? [resent, ended] : [each])),
    what: /no ended run has a webhook for it/,
  },
  'a resend for a run without a webhook': {
    log: withData(events.find(isAcceptance) as RawEvent, { webhookUrl: undefined }).filter(
      event => event !== eventOf('WebhookDelivered'),
    ),
    what: /no ended run has a webhook for it/,
  },
  'a resend while the delivery is pending': { log: withAfter(resent, resent), what: /is still pending/ },
  'a generation that is not the next one': {
    log: withData(rotated, { generation: 2 }),
    what: /its generation is 2, and 0 came before/,
  },
  'a generation that comes twice': { log: withAfter(rotated, rotated), what: /its generation is 1, and 1 came before/ },
  'a test that is requested twice': { log: withAfter(requested, requested), what: /was already requested/ },
  'a test with two results': { log: withAfter(tested, tested), what: /was not requested, or has a result/ },
  'a result without a request': {
    log: events.filter(event => event !== requested),
    what: /was not requested, or has a result/,
  },
}

for (const [name, { log, what }] of Object.entries(untrue))
  t.test(`${name} is found`, async t => {
    const { faults } = await verified(rewritten(log), { isDense: true })
    t.match(
      faults.map(fault => fault.what),
      [what],
    )
  })
