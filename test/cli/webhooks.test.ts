import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { WebhookSecret } from '../../schemas/api/webhook.ts'
import type { RunId } from '../../schemas/primitives.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { caughtUp } from '../support/caught-up.ts'
import { picture } from '../support/client.ts'
import { operatorOf } from '../support/operator.ts'
import {
  type Delivery,
  type Receiver,
  startReceiver,
  status,
  untilRecorded,
  webhookEvents,
} from '../support/receiver.ts'
import { type Customer, instantProvider, openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

/** Completes pictures at once; videos never finish. */
const provider: Provider = {
  ...instantProvider,
  submit: async (job, signal) =>
    job.endpoint.endsWith('-i2v')
      ? { kind: 'submitted', jobId: job.runId, pollAfterMs: 60_000 }
      : instantProvider.submit(job, signal),
  poll: async () => ({ kind: 'working', pollAfterMs: 60_000 }),
}
const video = { model: 'sandbox', input: { prompt: 'hello', image_url: 'none' } }

interface Listed {
  run_id: string
  status: string
  next_attempt_at: string | null
}

const folder = await temporaryFolder(t)
const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }
const service = await startService(t, { folder, environment, providers: { sandbox: provider } })
const { log } = service.core
const operator = operatorOf(folder)

const requestRun = async (customer: Customer, receiver: Receiver, request: object = picture): Promise<RunId> => {
  return (await customer.run({ ...request, webhook_url: `${receiver.url}hook` })).body.run_id
}

/** A customer with an abandoned, a pending, a delivered and a waiting webhook. */
const withHistory = async (t: Test) => {
  const customer = await openAccount(service, { tester: true })
  const receiver = await startReceiver(t, status(410))
  const recorded = (count: number, runId: RunId) => untilRecorded(log, count, customer.accountId, runId)
  const abandoned = await requestRun(customer, receiver)
  await recorded(2, abandoned)
  receiver.answer = status(500, { 'Retry-After': '3600' })
  const pending = await requestRun(customer, receiver)
  await recorded(1, pending)
  receiver.answer = status(202)
  const delivered = await requestRun(customer, receiver)
  await recorded(1, delivered)
  const waiting = await requestRun(customer, receiver, video)
  await customer.run(picture)
  await caughtUp(service.core)
  return { customer, receiver, abandoned, pending, delivered, waiting }
}

t.test('webhooks list: shows the deliveries, newest run first', async t => {
  const { customer, receiver, abandoned, pending, delivered, waiting } = await withHistory(t)
  const { accountId } = customer
  const time = /^\d{4}-\d\d-\d\dT/
  const url = `${receiver.url}hook`
  const reason = (code: number) => `The receiver answered with ${code}.`
  const noAttempt = { last_status: null, last_reason: null, last_attempt_at: null, next_attempt_at: null }
  const expected = [
    { run_id: waiting, url, status: 'waiting', attempts: 0, ...noAttempt },
    { run_id: delivered, status: 'delivered', attempts: 1, last_status: 202, last_attempt_at: time, last_reason: null },
    { run_id: pending, status: 'pending', attempts: 1, last_status: 500, last_reason: reason(500) },
    { run_id: abandoned, status: 'abandoned', attempts: 1, last_status: 410, last_reason: reason(410) },
  ]
  const list = (...options: string[]) => operator.json<Listed[]>(t, 'webhooks', 'list', accountId, ...options)
  const [all, newest, given, shown, none] = await Promise.all([
    list(),
    list('--limit', '2'),
    list('--status', 'abandoned'),
    operator.text(t, 'webhooks', 'list', accountId),
    operator.text(t, 'webhooks', 'list', (await openAccount(service)).accountId),
  ])
  t.match(all, expected)
  t.equal(all.length, 4)
  t.same(
    all.map(row => row.next_attempt_at !== null),
    [false, false, true, false],
  )
  t.same(newest, all.slice(0, 2))
  t.same(given, all.slice(3))
  t.match(none, 'No webhooks match')
  t.match(shown, /run id +url +status/)
  t.match(shown, new RegExp(`${pending} +${url} +pending +1 +500`))
})

t.test('webhooks redeliver: sends the webhook again at once, to the same or another URL', async t => {
  const { customer, receiver, abandoned, delivered } = await withHistory(t)
  const { accountId } = customer
  const elsewhere = await startReceiver(t)
  const before = receiver.deliveries.length
  const [again, moved] = await Promise.all([
    operator.json(t, 'webhooks', 'redeliver', accountId, delivered),
    operator.text(t, 'webhooks', 'redeliver', accountId, abandoned, '--url', elsewhere.url),
  ])
  t.same(again, { account_id: accountId, run_id: delivered, url: `${receiver.url}hook`, status: 'pending' })
  t.match(moved, new RegExp(`url +${elsewhere.url}`))
  await receiver.until(before + 1)
  await elsewhere.until(1)
  const [first, second] = receiver.deliveriesOf(delivered)
  t.equal(second?.headers['webhook-id'], first?.headers['webhook-id'])
  t.equal(second?.body, first?.body)
  t.equal(elsewhere.deliveries[0]?.event.data.run_id, abandoned)

  const events = await untilRecorded(log, 4, accountId, abandoned)
  t.match(events.slice(2), [
    { type: 'WebhookRedeliveryRequested', data: { url: elsewhere.url }, metadata: { actor: { kind: 'operator' } } },
    { type: 'WebhookDelivered', data: { attempt: 1 } },
  ])
  await untilRecorded(log, 3, accountId, delivered)
  await caughtUp(service.core)
  const listed = await operator.json(t, 'webhooks', 'list', accountId, '--status', 'delivered')
  t.match(listed, [{ run_id: delivered }, { run_id: abandoned, url: elsewhere.url, attempts: 1 }])
})

t.test('webhooks attempts: lists the attempts for one webhook, oldest first', async t => {
  const { customer, pending, abandoned, waiting } = await withHistory(t)
  const { accountId } = customer
  const [failed, refused, shown, none] = await Promise.all([
    operator.json(t, 'webhooks', 'attempts', accountId, pending),
    operator.json(t, 'webhooks', 'attempts', accountId, abandoned),
    operator.text(t, 'webhooks', 'attempts', accountId, pending),
    operator.text(t, 'webhooks', 'attempts', accountId, waiting),
  ])
  const time = /^\d{4}-\d\d-\d\dT/
  const attempt = {
    attempt: 1,
    at: time,
    status: 500,
    reason: 'The receiver answered with 500.',
    next_attempt_at: time,
  }
  t.match(failed, [attempt])
  t.match(refused, [{ attempt: 1, status: 410, next_attempt_at: null }])
  t.match(shown, /attempt +at +status +reason/)
  t.match(none, 'No delivery has been attempted yet.')
})

t.test('webhooks rotate-secret: a new secret signs beside the old one, and neither is printed', async t => {
  const customer = await openAccount(service)
  const secret = async () => (await customer.send<WebhookSecret>('/v1/webhooks/secret')).body.secret
  const before = await secret()
  const rotated = await operator.json<{ previous_secret_signs_until: string }>(
    ...[t, 'webhooks', 'rotate-secret', customer.accountId],
  )
  const { previous_secret_signs_until: untilTime } = rotated
  t.same(rotated, { account_id: customer.accountId, previous_secret_signs_until: untilTime })
  t.match(untilTime, /Z$/)
  const receiver = await startReceiver(t)
  await until('the service knows the new secret', async () => (await secret()) !== before)
  await requestRun(customer, receiver)
  await receiver.until(1)
  const { headers, body } = receiver.deliveries[0] as Delivery
  for (const each of [before, await secret()]) t.ok(new Webhook(each).verify(body, headers as Record<string, string>))
  t.match(
    await operator.refused(t, 'webhooks', 'rotate-secret', customer.accountId),
    /already rotated within the last day/,
  )
})

t.test('webhooks: invalid commands fail with a message and record nothing', async t => {
  const { customer, pending, waiting, delivered } = await withHistory(t)
  const { accountId } = customer
  const plain = (await customer.run(picture)).body.run_id
  const stranger = await openAccount(service)
  const absent = 'acct_01h455vb4pex5vsknk084sn02q'
  const before = await webhookEvents(log, accountId)
  const wrong: [args: string[], message: RegExp][] = [
    [['list', absent], /There is no such account/],
    [['attempts', absent, delivered], /There is no such account/],
    [['attempts', accountId, plain], /no run with this id that has a webhook/],
    [['attempts', stranger.accountId, delivered], /no run with this id that has a webhook/],
    [['rotate-secret', absent], /There is no such account/],
    [['list', accountId, '--status', 'nonsense'], /waiting, pending, delivered, abandoned/],
    [['redeliver', accountId, 'run_01h455vb4pex5vsknk084sn02q'], /no run with this id that has a webhook/],
    [['redeliver', accountId, plain], /no run with this id that has a webhook/],
    [['redeliver', stranger.accountId, delivered], /no run with this id that has a webhook/],
    [['redeliver', accountId, waiting], /has not ended yet/],
    [['redeliver', accountId, pending], /is already being delivered/],
    [
      ['redeliver', accountId, delivered, '--url', 'ftp://example.com'],
      /"ftp:.*" cannot receive webhooks: it must be an http or https URL/,
    ],
    [['redeliver', accountId, delivered, '--url', 'http://user:secret@example.com'], /must not contain a user name/],
  ]
  await Promise.all(
    wrong.map(async ([args, message]) => t.match(await operator.refused(t, 'webhooks', ...args), message)),
  )
  t.same(await webhookEvents(log, accountId), before)
})
