import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { WebhookSecret } from '../../schemas/api/webhook.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { webhookSecret } from '../../src/services/webhooks/send-webhook.ts'
import { type Client, picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { type Delivery, type Receiver, startReceiver } from '../support/receiver.ts'
import { type Customer, instantProvider, openAccount, openKey, type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const MASTER_SECRET = 'a master secret for tests, and for them alone'
const HOUR_MS = 60 * 60 * 1000

const clock = new ManualClock()
const folder = await temporaryFolder(t)
const start = (t: Test) =>
  startService(t, {
    ...{ folder, clock, providers: { sandbox: instantProvider } },
    environment: { ALLOW_PRIVATE_WEBHOOKS: 'true', MASTER_SECRET },
  })
const service = await start(t)
const operator = { kind: 'operator', name: 'ada' } as const

type Answered = WebhookSecret & { error: { code: string; message: string } }
const show = (customer: Client) => customer.send<Answered>('/v1/webhooks/secret')
const rotate = (customer: Client) => customer.send<Answered>('/v1/webhooks/secret/rotate', { method: 'POST' })

/** The webhook of a new run of a customer. */
const deliveryTo = async (customer: Client, receiver: Receiver): Promise<Delivery> => {
  const { body } = await customer.run({ ...picture, webhook_url: receiver.url })
  const [delivery] = await until('the webhook arrives', () => {
    const found = receiver.deliveriesOf(body.run_id)
    return found.length > 0 && found
  })
  return delivery as Delivery
}

/** Whether a receiver with a secret accepts a webhook. It compares the timestamp with the real time. */
const accepts = (secret: string, { headers, body }: Delivery): boolean => {
  const real = Date.now
  Date.now = () => clock.nowMs()
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  } finally {
    Date.now = real
  }
}
const signaturesOf = ({ headers }: Delivery) => String(headers['webhook-signature']).split(' ')

t.test('for 24 hours after a rotation, receivers with the old and the new secret accept webhooks', async t => {
  const customer = await openAccount(service)
  const receiver = await startReceiver(t)
  const { body: first } = await show(customer)
  t.equal(first.secret, webhookSecret(MASTER_SECRET, customer.accountId), 'generation 0')
  t.equal(signaturesOf(await deliveryTo(customer, receiver)).length, 1)

  const rotated = await rotate(customer)
  t.equal(rotated.status, 200)
  t.equal(rotated.headers.get('Cache-Control'), 'no-store')
  const { secret, previous_secret_signs_until } = rotated.body
  t.equal(secret, webhookSecret(MASTER_SECRET, customer.accountId, 1))
  t.not(secret, first.secret)
  t.equal(previous_secret_signs_until, new Date(clock.nowMs() + 24 * HOUR_MS).toISOString())
  t.same((await show(customer)).body, rotated.body)

  const stranger = (await show(await openAccount(service))).body.secret
  clock.advance(24 * HOUR_MS - 1)
  const both = await deliveryTo(customer, receiver)
  t.equal(signaturesOf(both).length, 2)
  for (const [each, expected] of [
    [secret, true],
    [first.secret, true],
    [stranger, false],
  ] as const)
    t.equal(accepts(each, both), expected)

  clock.advance(1)
  const later = await deliveryTo(customer, receiver)
  t.equal(signaturesOf(later).length, 1)
  t.ok(accepts(secret, later))
  t.notOk(accepts(first.secret, later))
  t.same((await show(customer)).body, { object: 'webhook_secret', secret })
})

t.test('a second rotation within a day is refused, and says when', async t => {
  const customer = await openAccount(service)
  const replies = await Promise.all([rotate(customer), rotate(customer), rotate(customer)])
  t.same(replies.map(({ status }) => status).sort(), [200, 429, 429])
  const { secret } = (await show(customer)).body
  clock.advance(HOUR_MS)
  const refused = await rotate(customer)
  t.match(refused.body.error, { code: 'rate_limited', message: /already rotated within the last day/ })
  t.equal(refused.headers.get('Retry-After'), String((23 * HOUR_MS) / 1000))
  clock.advance(23 * HOUR_MS)
  const again = await rotate(customer)
  t.equal(again.status, 200)
  t.equal(again.body.secret, webhookSecret(MASTER_SECRET, customer.accountId, 2))
  t.not(again.body.secret, secret)
})

t.test('only full keys see and rotate the secret', async t => {
  const customer = await openAccount(service)
  for (const scope of ['read', 'keys'] as const) {
    const limited = await openKey(service, customer, { scope })
    for (const ask of [show, rotate])
      t.match(await ask(limited), { status: 403, body: { error: { code: 'forbidden' } } }, scope)
  }
  for (const ask of [show, rotate]) t.equal((await ask(service.client())).status, 401)
  const { accountId, keyId } = await openAccount(service)
  const stranger = { kind: 'key', scope: 'full', accountId, keyId } as const
  const told = await service.core.services.webhooks.rotateSecret(stranger, customer.accountId)
  t.match(told, { refuse: { code: 'account_not_found' } })
  t.same((await show(customer)).body.previous_secret_signs_until, undefined, 'nothing was rotated')
})

t.test('the owner of a suspended account cannot rotate, and the operator can', async t => {
  const customer = await openAccount(service)
  const { accounts, webhooks } = service.core.services
  unwrap(await accounts.suspend(operator, customer.accountId, 'unpaid'))
  t.match(await rotate(customer), { status: 403, body: { error: { code: 'account_suspended' } } })
  const { secret } = unwrap(await webhooks.rotateSecret(operator, customer.accountId))
  unwrap(await accounts.resume(operator, customer.accountId, 'paid'))
  t.equal((await show(customer)).body.secret, secret)
})

t.test('every process signs with the new secret, also after a restart, and the log holds none', async t => {
  const customer = await openAccount(service)
  const other = await start(t)
  const elsewhere = customer.at(other.url)
  await until('the other process knows the key', async () => (await show(elsewhere)).status === 200)
  const secrets = [await secretFrom(service, customer), (await rotate(customer)).body.secret]
  await until('the other process shows it', async () => (await show(elsewhere)).body.secret === secrets[1])
  await other.stop()
  const restarted = await start(t)
  t.equal(await secretFrom(restarted, customer), secrets[1])
  const receiver = await startReceiver(t)
  const delivery = await deliveryTo(customer.at(restarted.url), receiver)
  for (const secret of secrets) t.ok(accepts(secret as string, delivery))
  const events = JSON.stringify(await collect(restarted.core.log.readAll(BEFORE_FIRST)))
  t.match(events, /"WebhookSecretRotated"/)
  for (const secret of secrets) t.notOk(events.includes((secret as string).slice('whsec_'.length)))
  await restarted.stop()
})

async function secretFrom({ url }: Service, customer: Customer): Promise<string> {
  return (await show(customer.at(url))).body.secret
}
