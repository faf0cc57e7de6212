import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { openStripe } from '../../../src/adapters/payments/stripe.ts'
import { startReceiver, status } from '../receiver.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { until } from '../until.ts'
import { parseForm } from './form.ts'
import { STRIPE_KEY, startStripe, WEBHOOK_SECRET } from './stub.ts'
import { obey } from './stub-commands.ts'

const SESSION = [
  ...['mode=payment', 'success_url=https%3A%2F%2Fexample.com', 'line_items[0][quantity]=1'],
  ...['line_items[0][price_data][currency]=eur', 'line_items[0][price_data][unit_amount]=500'],
  'line_items[0][price_data][product_data][name]=500+credits',
].join('&')

const start = async (t: Test) => {
  const stub = await startStripe(t)
  const send = async (method: string, path: string, body?: string, key?: string) => {
    const headers = { authorization: `Bearer ${STRIPE_KEY}`, ...(key && { 'idempotency-key': key }) }
    const response = await fetch(`${stub.url}${path}`, { method, headers, ...(body !== undefined && { body }) })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    }
  }
  const open = async () => String((await send('POST', '/v1/checkout/sessions', SESSION)).body['id'])
  return { stub, send, open }
}

t.test('forms have nested names and lists', t => {
  t.same(parseForm('a=1&b[c]=2&b[d][e]=3&expand[]=x&expand[]=y.z&items[0][n]=p&items[1][n]=q+r'), {
    ...{ a: '1', b: { c: '2', d: { e: '3' } }, expand: ['x', 'y.z'], items: [{ n: 'p' }, { n: 'q r' }] },
  })
  t.end()
})

t.test('an idempotency key has one answer', async t => {
  const { stub, send } = await start(t)
  const first = await send('POST', '/v1/checkout/sessions', SESSION, 'one')
  const again = await send('POST', '/v1/checkout/sessions', SESSION, 'one')
  t.same(again.body, first.body)
  t.equal(first.headers.get('idempotent-replayed'), null)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.not(again.headers.get('request-id'), first.headers.get('request-id'))
  const other = await send('POST', '/v1/checkout/sessions', SESSION.replace('500', '600'), 'one')
  t.match(other, { status: 400, body: { error: { type: 'idempotency_error', message: /same parameters/ } } })
  const elsewhere = await send('POST', '/v1/refunds', SESSION, 'one')
  t.match(elsewhere, { status: 400, body: { error: { type: 'idempotency_error', message: /same endpoint/ } } })
  const wrong = await send('POST', '/v1/checkout/sessions', 'mode=payment', 'two')
  t.match(wrong, { status: 400, body: { error: { code: 'parameter_missing' } } })
  t.match(await send('POST', '/v1/checkout/sessions', SESSION, 'two'), { status: 200 }, 'refused requests are not kept')
  t.equal(stub.store.all('checkout.session').length, 2)
})

t.test('what the stub does not know is refused', async t => {
  const { stub, send, open } = await start(t)
  const unknown = await send('POST', '/v1/checkout/sessions', `${SESSION}&payment_method_types[0]=card`)
  t.match(unknown, { status: 400, body: { error: { code: 'parameter_unknown', param: 'payment_method_types' } } })
  t.match(await send('GET', '/v1/plans'), { status: 404, body: { error: { message: /Unrecognized request URL/ } } })
  t.match(await send('GET', '/v1/refunds/re_1'), { status: 404, body: { error: { code: 'resource_missing' } } })
  const id = await open()
  const expanded = await send('GET', `/v1/checkout/sessions/${id}?expand[]=colour`)
  t.match(expanded, { status: 400, body: { error: { message: /cannot be expanded \(colour\)/ } } })
  stub.pay(id)
  const { body } = await send('GET', `/v1/checkout/sessions/${id}?expand[]=payment_intent.latest_charge`)
  t.match(body, { payment_intent: { object: 'payment_intent', latest_charge: { object: 'charge', paid: true } } })
  stub.keys.clear()
  t.match(await send('GET', '/v1/refunds/re_1'), { status: 401, body: { error: { message: /sk_test_\*{4}6789$/ } } })
})

t.test('events are sent until they are accepted, each with a signature of its own time', async t => {
  const { stub, open } = await start(t)
  const receiver = await startReceiver(t, status(500))
  const sender = stub.sendTo(receiver.url)
  stub.expire(await open())
  await until('two attempts', () => sender.attempts.length >= 2)
  receiver.answer = status(200)
  await sender.settled()
  const statuses = sender.attempts.map(({ status }) => status)
  t.same(statuses.slice(0, 2), [500, 500])
  t.equal(statuses.at(-1), 200)
  t.equal(new Set(receiver.deliveries.map(({ body }) => body)).size, 1)
  t.match(receiver.deliveries[0]?.headers['stripe-signature'], /^t=\d{10},v1=[0-9a-f]{64},v0=[0-9a-f]{64}$/)
})

t.test('events come late, in another order, several times', async t => {
  const { stub, open } = await start(t)
  const receiver = await startReceiver(t, status(200))
  const sender = stub.sendTo(receiver.url)
  sender.isHeld = true
  sender.times = 3
  stub.pay(await open())
  const types = stub.events.map(({ type }) => type)
  t.same(types, ['charge.succeeded', 'payment_intent.succeeded', 'checkout.session.completed'])
  t.equal(receiver.deliveries.length, 0)
  sender.release(events => events.toReversed())
  await sender.settled()
  t.equal(receiver.deliveries.length, 9)
  t.same(sender.held, [])
})

t.test('an event tells how its object was', async t => {
  const { stub, send, open } = await start(t)
  stub.pay(await open())
  const [session] = stub.store.all('checkout.session')
  const { id } = stub.refund(session?.payment_intent as string, 100)
  stub.failRefund(id)
  t.match(stub.eventsOf('refund.created')[0]?.data.object, { status: 'succeeded' })
  t.match(stub.eventsOf('refund.failed')[0]?.data.object, { status: 'failed' })
  const [event] = stub.eventsOf('refund.created')
  t.same((await send('GET', `/v1/events/${event?.id}`)).body, event)
})

/** An endpoint that answers as ours must: 200 for what Stripe has signed, or 400. */
const startEndpoint = async (t: Test, url: string) => {
  const options = {
    secretKey: STRIPE_KEY,
    webhookSecrets: [WEBHOOK_SECRET],
    managedPayments: false,
    automaticTax: false,
  }
  const payments = await openStripe({ ...options, url })
  const server = createServer(async (request, response) => {
    const signature = request.headers['stripe-signature'] as string | undefined
    const isRead = payments.read(await buffer(request), signature).then(
      () => true,
      () => false,
    )
    response.writeHead((await isRead) ? 200 : 400).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('events can be unsigned, old and forged', async t => {
  const { stub, open } = await start(t)
  const sender = stub.sendTo(await startEndpoint(t, stub.url))
  sender.isHeld = true
  stub.expire(await open())
  const [event] = stub.events
  if (!event) throw new Error('there is no event')
  t.equal(await sender.post(event), 200)
  t.equal(await sender.post(event, { ageSeconds: 290 }), 200)
  t.equal(await sender.post(event, { ageSeconds: 310 }), 400)
  t.equal(await sender.post(event, { secrets: [] }), 400)
  t.equal(await sender.post(event, { secrets: ['whsec_other'] }), 400)
  t.equal(await sender.post(event, { secrets: ['whsec_other', WEBHOOK_SECRET] }), 200)
  t.equal(await sender.post(event, { forge: body => body.replace('expired', 'complete') }), 400)
})

t.test('lines of "npm run stripe" refund and dispute payments, and write the report', async t => {
  const { stub, open } = await start(t)
  stub.pay(await open())
  const [payment] = stub.store.all('payment_intent')
  t.match(await obey(stub, `refund ${payment?.id} 120`), /^re_\w+ returns 120$/)
  t.match(await obey(stub, `dispute ${payment?.id}`), /^du_\w+ takes the payment back$/)
  t.match(await obey(stub, `win ${stub.store.all('dispute')[0]?.id}`), /is won$/)
  t.match(await obey(stub, 'dispute pi_none'), /^No such payment_intent/)
  t.match(await obey(stub, 'help'), /^Type one of: refund pi_… \[CENTS\]; dispute/)
  const file = join(await temporaryFolder(t), 'balance.csv')
  t.match(await obey(stub, `report ${file}`), 'has the balance report')
  t.match(await readFile(file, 'utf8'), /"-1\.20".*"refund"/)
})

t.test('a thousand events arrive', async t => {
  const { stub, open } = await start(t)
  const sender = stub.sendTo(await startEndpoint(t, stub.url))
  sender.isHeld = true
  const ids = await Promise.all(Array.from({ length: 100 }, open))
  for (const id of ids) stub.pay(id)
  sender.times = 4
  sender.release(events => events.toReversed())
  await sender.settled()
  const accepted = sender.attempts.filter(({ status }) => status === 200)
  t.equal(accepted.length, 1200)
})
