import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { endpoint, family, parameters } from '../../support/catalog-samples.ts'
import { sandbox } from '../../support/client.ts'
import { hold, startReceiver, webhookEvents } from '../../support/receiver.ts'
import { openAccount, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { offer, order, syncOrder } from '../../support/vendor-families.ts'
import { startVendorService } from '../../support/vendor-service.ts'

const SLOTS = 8
const MANY = 40

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }

for (const [mode, orderIn] of Object.entries({ async: order, sync: syncOrder }))
  t.test(`${mode}: one account's runs leave slots of their provider to another`, async t => {
    const { vendor, service } = await startVendorService(t, { limits: { permitsPerProvider: SLOTS } })
    const [flooder, other] = [await openAccount(service), await openAccount(service)]
    const held = orderIn({ faults: [{ step: 'asked', act: 'hold' }] })
    const flood = Promise.all(Array.from({ length: MANY }, () => flooder.run(held, { Prefer: 'wait=1' })))
    await vendor.holds(SLOTS / 2)
    await flood
    const { body } = await other.run(orderIn(), { Prefer: 'wait=20' })
    t.equal(body.status, 'completed')
    vendor.release()
  })

/** The URL of a picture that never arrives. */
const startHangingHost = async (t: Test): Promise<string> => {
  const hanging = createServer(() => undefined).listen(0)
  await once(hanging, 'listening')
  t.teardown(() => {
    hanging.closeAllConnections()
    hanging.close()
  })
  return `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/a.png`
}

t.test('a run that waits for its source holds no slot of its provider', async t => {
  // Of two slots, one account may hold one.
  const service = await startService(t, { environment, limits: { permitsPerProvider: 2 } })
  const customer = await openAccount(service)
  const repaint = { model: 'nano-banana-2', input: { prompt: 'a lake', image_url: await startHangingHost(t) } }
  const { body: waiting } = await customer.run(repaint, { Prefer: 'wait=1' })
  t.equal(waiting.status, 'processing')
  const { body } = await customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } }, { Prefer: 'wait=10' })
  t.equal(body.status, 'completed')
})

t.test('a run whose source is not loaded at its time limit fails through its own fault', async t => {
  const service = await startService(t, { environment })
  const late = { timeoutMs: 1000, parametersSchema: parameters({ image_url: { type: 'string' } }) }
  const endpoints = [endpoint('i2i', { ...late, mode: 'sync' }), endpoint('i2v', { ...late, mode: 'async' })]
  await offer(service.core, ...endpoints.map(one => family(`late-${one.kind}`, {}, [one])))
  const customer = await openAccount(service)
  const imageUrl = await startHangingHost(t)
  for (const { kind } of endpoints) {
    const repaint = { model: `late-${kind}`, input: { prompt: 'a lake', image_url: imageUrl } }
    const { body } = await customer.run(repaint, { Prefer: 'wait=20' })
    const error = { code: 'invalid_input', message: 'image_url: The file did not load within 1 s.' }
    t.match(body, { status: 'failed', error })
  }
})

t.test('one account’s webhooks leave room at a host to another', async t => {
  const service = await startService(t, { environment })
  const [flooder, other] = [await openAccount(service, { tester: true }), await openAccount(service, { tester: true })]
  const receiver = await startReceiver(t, hold)
  const to = (path: string) => ({ ...sandbox(), webhook_url: receiver.url + path })
  await Promise.all(Array.from({ length: 150 }, () => flooder.run(to('slow'))))
  await receiver.until(64)
  const { body } = await other.run(to('quick'))
  await until('the webhook of the other account arrives', () => receiver.deliveriesOf(body.run_id).length > 0)
  t.equal(receiver.deliveries.length, 64 + 1)
})

t.test('webhooks of failed runs are limited in rate, and delivered', async t => {
  const service = await startService(t, { environment })
  const customer = await openAccount(service, { tester: true, credits: 200 })
  const receiver = await startReceiver(t)
  const startMs = performance.now()
  const failing = { ...sandbox({ outcome: 'model_not_found' }), webhook_url: receiver.url }
  await Promise.all(Array.from({ length: 130 }, () => customer.run(failing)))
  await customer.run({ ...sandbox(), webhook_url: receiver.url })
  const isOfCompleted = () => receiver.deliveries.some(({ event }) => event.type === 'run.completed')
  await until('the webhook of the completed run arrives', isOfCompleted)
  const seconds = (performance.now() - startMs) / 1000
  t.ok(receiver.deliveries.length <= 102 + 10 * seconds, `${receiver.deliveries.length} within ${seconds} s`)
  await until('all webhooks are recorded', async () => {
    return (await webhookEvents(service.core.log, customer.accountId)).length >= 131
  })
  t.equal(receiver.deliveries.length, 131)
})
