import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { NoticeSettings } from '../../../schemas/api/notice.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { webhookSecret } from '../../../src/services/webhooks/send-webhook.ts'
import { picture } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { type Delivery, startReceiver, status } from '../../support/receiver.ts'
import {
  type Customer,
  instantProvider,
  openAccount,
  openKey,
  type Service,
  startService,
} from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const MASTER_SECRET = 'a master secret for tests, and for them alone'

const start = async (t: Test, environment: Record<string, string> = {}) => {
  const clock = new ManualClock(Date.parse('2026-11-25T10:00:00.000Z'))
  const folder = await temporaryFolder(t)
  const settings = { ALLOW_PRIVATE_WEBHOOKS: 'true', MASTER_SECRET, ...environment }
  const service = await startService(t, {
    ...{ folder, clock, environment: settings },
    providers: { sandbox: instantProvider },
  })
  const customer = await openAccount(service, { credits: 25 })
  return { clock, folder, service, customer }
}

const put = (customer: Customer, body: object) =>
  customer.send<NoticeSettings>('/v1/notices', {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

const eventsOf = async ({ core }: Service, { accountId }: Customer) =>
  (await collect(core.log.readStream(accountStream(accountId), 0))) as Recorded<AccountEvent>[]

/** Waits for so many events whose names begin like this. */
const untilEvents = (service: Service, customer: Customer, name: string, count: number) =>
  until(`${count} events ${name}`, async () => {
    const found = (await eventsOf(service, customer)).filter(({ type }) => type.startsWith(name))
    return found.length >= count && found
  })

t.test('a low balance raises one notice, by mail and, signed, to a URL', async t => {
  const mail = await startMailServer(t)
  const receiver = await startReceiver(t)
  const { service, customer } = await start(t, mail.environment)
  const set = await put(customer, { url: receiver.url, balance_under_credits: 20 })
  t.match(set, { status: 200, body: { email: true, email_address: /@example\.com$/, balance_under_credits: 20 } })
  await customer.run(picture)
  await untilEvents(service, customer, 'NoticeDelivered', 2)
  await customer.run(picture)

  t.equal(mail.received.length, 1)
  t.match(mail.received[0], {
    to: [set.body.email_address],
    text: /Subject: Your Tollgate balance is under 20 credits/,
  })
  t.match(mail.received[0]?.text, /Your account has 15 credits left/)
  const { headers, body } = receiver.deliveries[0] as Delivery
  const { accountId } = customer
  t.match(JSON.parse(body), { type: 'balance.low', data: { credits_balance: 15, under_credits: 20 } })
  const id = `${accountId.replace('acct_', 'msg_')}_1`
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000)
  const signature = new Webhook(webhookSecret(MASTER_SECRET, accountId)).sign(id, sentAt, body)
  t.match(headers, { 'webhook-id': id, 'webhook-signature': signature })

  const raised = await untilEvents(service, customer, 'NoticeRaised', 1)
  t.equal(raised.length, 1)
  t.equal(receiver.deliveries.length, 1)
  t.notMatch(JSON.stringify(raised), /@/, 'the event repeats no address')
  const [debit, ...rest] = (await eventsOf(service, customer)).filter(({ metadata }) => {
    return metadata.requestId === raised[0]?.metadata.requestId
  })
  t.equal(debit?.type, 'CreditsDebited', 'it is in the append of the debit')
  t.ok(rest.some(({ type }) => type === 'NoticeRaised'))
})

t.test('a budget raises a notice at 80 % and at its end, with the name of the key', async t => {
  const mail = await startMailServer(t)
  const { service, customer } = await start(t, mail.environment)
  await put(customer, { balance_under_credits: 0 })
  const key = await openKey(service, customer, { budget: { amountMicros: toMicros(12.5), period: 'month' } })
  await key.run(picture)
  await untilEvents(service, customer, 'NoticeDelivered', 1)
  t.match(mail.received[0]?.text, /Subject: An API key of your Tollgate account has used 80 % of its\s+budget/)
  t.match(mail.received[0]?.text, /The key "test" \(ending in [0-9a-f]{4}\)/)
  t.match(mail.received[0]?.text, /has spent 10 of the 12.5 credits of its budget/)
  t.match(mail.received[0]?.text, /The budget renews at 2026-12-01 00:00 UTC\./)
  t.equal((await key.run(picture)).status, 402)
})

t.test('a key that expires raises one notice, a week before', async t => {
  const receiver = await startReceiver(t)
  const { clock, service, customer } = await start(t)
  await put(customer, { email: false, url: receiver.url })
  const expiresAt = new Date(clock.nowMs() + 10 * DAY_MS).toISOString()
  const key = await openKey(service, customer, { expiresAt })
  const revoked = await openKey(service, customer, { expiresAt })
  await service.core.services.keys.revoke({ kind: 'operator', name: 'test' }, customer.accountId, revoked.keyId)
  clock.advance(3 * DAY_MS)
  await receiver.until(1)
  await untilEvents(service, customer, 'NoticeDelivered', 1)
  t.match(JSON.parse(receiver.deliveries[0]?.body ?? ''), {
    type: 'key.expiring',
    data: { key_id: key.keyId, expires_at: expiresAt },
  })
  clock.advance(DAY_MS)
  await until('nothing is due', async () => {
    const due = await service.core.views.list('due', 'byQueue', { prefix: '', limit: 10 })
    return due.length === 0
  })
  t.equal((await untilEvents(service, customer, 'NoticeRaised', 1)).length, 1)
})

t.test('what is not accepted is tried again, and given up if the receiver is gone', async t => {
  const mail = await startMailServer(t)
  mail.isFull = true
  const receiver = await startReceiver(t, status(503))
  const { clock, service, customer } = await start(t, mail.environment)
  await put(customer, { url: receiver.url, balance_under_credits: 20 })
  t.equal((await customer.run(picture)).status, 200, 'the run does not wait for notices')
  const failed = await untilEvents(service, customer, 'NoticeAttemptFailed', 2)
  t.same(failed.map(({ data }) => (data as { channel: string }).channel).sort(), ['email', 'url'])
  t.notMatch(JSON.stringify(failed), /@/)
  mail.isFull = false
  receiver.answer = status(410)
  clock.advance(6_000)
  await untilEvents(service, customer, 'NoticeDelivered', 1)
  t.match(await untilEvents(service, customer, 'NoticeAbandoned', 1), [{ data: { channel: 'url', attempts: 2 } }])
  t.equal(mail.received.length, 1)
  t.equal(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.equal(new Set(receiver.deliveries.map(({ body }) => body)).size, 1)
})

t.test('without a mail server, notices are in the outbox', async t => {
  const { folder, service, customer } = await start(t)
  await put(customer, { balance_under_credits: 20 })
  await customer.run(picture)
  await untilEvents(service, customer, 'NoticeDelivered', 1)
  const [name = ''] = await readdir(join(folder, 'outbox'))
  t.match(await readFile(join(folder, 'outbox', name), 'utf8'), /Subject: Your Tollgate balance is under 20 credits/)
})
