import { createHmac } from 'node:crypto'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import t from 'tap'
import { signWebhook, webhookSecret } from '../../../src/services/webhooks/send-webhook.ts'

const secret = webhookSecret('a master secret of the service', 'acct_01h455vb4pex5vsknk084sn02q')
const message = {
  secrets: [secret],
  id: 'evt_01h455vb4pex5vsknk084sn02q',
  timestampSeconds: Math.floor(Date.now() / 1000),
  body: JSON.stringify({ type: 'run.completed', data: { text: 'ä 🎈' } }),
}

t.test('the standard verifier accepts our signature', async t => {
  t.same(new Webhook(secret).verify(message.body, signWebhook(message)), JSON.parse(message.body))
})

t.test('the signature matches the example of the standard', async t => {
  // This example comes from the tests of the Standard Webhooks libraries.
  const headers = signWebhook({
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1614265330,
    body: '{"test": 2432232314}',
  })
  t.same(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

t.test('any changed byte invalidates the signature', async t => {
  const headers = signWebhook(message)
  const refused = (body: string, changed: Record<string, string>) =>
    t.throws(() => new Webhook(secret).verify(body, { ...headers, ...changed }), WebhookVerificationError)
  for (let at = 0; at < message.body.length; at++) refused(flip(message.body, at), {})
  for (let at = 0; at < message.id.length; at++) refused(message.body, { 'webhook-id': flip(message.id, at) })
  refused(message.body, { 'webhook-timestamp': String(message.timestampSeconds - 1) })
  refused(message.body, { 'webhook-timestamp': String(message.timestampSeconds + 1) })
})

t.test('each of two secrets signs, and a verifier that knows either accepts', async t => {
  const other = webhookSecret('a master secret of the service', 'acct_01h455vb4pex5vsknk084sn02q', 1)
  const headers = signWebhook({ ...message, secrets: [other, secret] })
  t.match(headers['webhook-signature'], /^v1,[A-Za-z0-9+/=]+ v1,[A-Za-z0-9+/=]+$/)
  for (const each of [other, secret]) t.same(new Webhook(each).verify(message.body, headers), JSON.parse(message.body))
  const stranger = new Webhook(webhookSecret('m', 'acct_2'))
  t.throws(() => stranger.verify(message.body, headers), WebhookVerificationError)
})

t.test('a secret is derived from the service and the account', async t => {
  const keyOf = (text: string) => Buffer.from(text.replace('whsec_', ''), 'base64')
  t.match(secret, /^whsec_[A-Za-z0-9+/]+={0,2}$/)
  t.equal(keyOf(secret).byteLength, 32)
  const expected = createHmac('sha256', 'm').update('webhook:acct_1').digest()
  t.same(keyOf(webhookSecret('m', 'acct_1')), expected)
  t.equal(webhookSecret('m', 'acct_1', 0), webhookSecret('m', 'acct_1'))
  t.same(keyOf(webhookSecret('m', 'acct_1', 2)), createHmac('sha256', 'm').update('webhook:acct_1:2').digest())
  t.not(webhookSecret('m', 'acct_2'), webhookSecret('m', 'acct_1'))
  t.not(webhookSecret('n', 'acct_1'), webhookSecret('m', 'acct_1'))
  const stranger = new Webhook(webhookSecret('m', 'acct_2'))
  t.throws(() => stranger.verify(message.body, signWebhook(message)), WebhookVerificationError)
})

function flip(text: string, at: number): string {
  const changed = String.fromCharCode(text.charCodeAt(at) ^ 1)
  return text.slice(0, at) + changed + text.slice(at + 1)
}
