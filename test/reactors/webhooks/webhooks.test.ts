import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { RunId } from '../../../schemas/primitives.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { createOutbound } from '../../../src/adapters/outbound/undici.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { WebhooksReactor } from '../../../src/reactors/webhooks/webhooks.ts'
import { Addresses } from '../../../src/services/files/addresses.ts'
import { Presenter } from '../../../src/services/presenter.ts'
import { webhookSecret } from '../../../src/services/webhooks/send-webhook.ts'
import {
  accountId,
  completeRun,
  openAccount as open,
  queueRun,
  recordDelivered,
  startRun,
} from '../../support/account-samples.ts'
import { ourBrand } from '../../support/brands.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { picture } from '../../support/client.ts'
import { cellsOf, forgeCells } from '../../support/dump.ts'
import { accountsOn } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import {
  type Answer,
  hold,
  startReceiver,
  status,
  untilRecorded,
  type WebhookRecord,
  webhookEvents,
} from '../../support/receiver.ts'
import {
  type Customer,
  instantProvider,
  openAccount,
  openFolder,
  type Service,
  startService,
} from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { unwrap } from '../../support/unwrap.ts'

// One delivery waits 15 s for a hanging receiver while the other tests run.
t.setTimeout(120_000)

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const MASTER_SECRET = 'a master secret for tests, and for them alone'

type Place = Awaited<ReturnType<typeof start>>
type Undelivered = Extract<WebhookRecord, { type: 'WebhookAttemptFailed' }>

/** A service with a manual clock, and a customer. */
const start = async (t: Test) => {
  const clock = new ManualClock()
  const folder = await temporaryFolder(t)
  const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true', MASTER_SECRET }
  const service = await startService(t, { folder, clock, environment, providers: { sandbox: instantProvider } })
  const customer = await openAccount(service, { credits: 10_000 })
  return { clock, folder, service, log: service.core.log, customer }
}

/** Requests a run with a webhook. */
const requestRun = async (customer: Customer, url: string): Promise<RunId> =>
  (await customer.run({ ...picture, webhook_url: url })).body.run_id

const dueDeliveries = ({ core }: Service) => core.views.list('due', 'byQueue', { prefix: 'deliver/', limit: 1000 })

const webhookRow = async ({ core }: Service, customer: Customer, runId: RunId) => {
  await caughtUp(core)
  return core.reads.get('webhooks', `${customer.accountId}/${runId}`)
}

const hanging = await start(t)
const silent = await startReceiver(t, hold)
const hangingRun = await requestRun(hanging.customer, silent.url)

t.test('a slow host gets fewer attempts at a time, and more again when it is quick', async t => {
  const { clock, log, customer } = await start(t)
  const open: (() => void)[] = []
  const receiver = await startReceiver(t, response => void open.push(() => response.writeHead(200).end()))
  const requestMany = (count: number) =>
    Promise.all(Array.from({ length: count }, () => requestRun(customer, receiver.url)))
  const answerAll = () => {
    for (const answer of open.splice(0)) answer()
  }

  await requestMany(10)
  await receiver.until(10)
  Object.assign(clock, { monotonicMs: () => systemClock.monotonicMs() + 6 * SECOND })
  answerAll()
  await until('ten are recorded', async () => (await webhookEvents(log, customer.accountId)).length === 10)

  await requestMany(9)
  const arrived: number[] = []
  for (let seen = 10; seen < 19; seen = receiver.deliveries.length) {
    await receiver.until(seen + 1)
    await delay(100)
    arrived.push(receiver.deliveries.length - seen)
    answerAll()
  }
  t.equal(arrived[0], 1)
  t.ok(arrived.length < 9, 'later ones arrive together')
})

t.test('a delivery is sent again, even at the time at which it was due', async t => {
  const { service, log, customer } = await start(t)
  const receiver = await startReceiver(t)
  const runId = await requestRun(customer, receiver.url)
  await untilRecorded(log, 1, customer.accountId, runId)
  unwrap(await service.core.services.webhooks.redeliver({ kind: 'operator', name: 'ada' }, customer.accountId, runId))
  await receiver.until(2)
})

t.test('deliveries to a failing receiver are retried for three days and then abandoned', async t => {
  const { clock, service, log, customer } = await start(t)
  const waitsMs = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
  const arrivedAtMs: number[] = []
  const receiver = await startReceiver(t, (response, delivery) => {
    if (delivery.path === '/') arrivedAtMs.push(clock.nowMs())
    response.writeHead(delivery.path === '/' ? 503 : 200).end()
  })
  const expectedAtMs = [clock.nowMs()]
  const runId = await requestRun(customer, receiver.url)
  const recordedOf = (attempt: number) => untilRecorded(log, attempt, customer.accountId, runId)

  for (const [index, waitMs] of waitsMs.entries()) {
    const attempt = index + 1
    const last = (await recordedOf(attempt)).at(-1)
    t.match(last, { type: 'WebhookAttemptFailed', data: { attempt, status: 503 } })
    const nextAtMs = Date.parse((last as Undelivered).data.nextAttemptAt ?? '')
    const chosenMs = nextAtMs - clock.nowMs()
    t.ok(chosenMs >= waitMs && chosenMs <= waitMs * 1.1, `${chosenMs} ms after attempt ${attempt}`)
    expectedAtMs.push(nextAtMs)

    clock.advance(chosenMs - 1)
    // The queue is in due order: once the canary is delivered, the retry has been seen and left.
    const canary = await requestRun(customer, `${receiver.url}canary`)
    await untilRecorded(log, 1, customer.accountId, canary)
    t.equal(arrivedAtMs.length, attempt)
    clock.advance(1)
  }
  const events = await recordedOf(waitsMs.length + 2)
  t.match(events.slice(-2), [
    { type: 'WebhookAttemptFailed', data: { attempt: 10 } },
    { type: 'WebhookAbandoned', data: { attempts: 10 } },
  ])
  t.equal(events.length, 11)
  t.notOk('nextAttemptAt' in (events[9]?.data ?? {}))
  t.same(arrivedAtMs, expectedAtMs)
  const row = await webhookRow(service, customer, runId)
  t.match(row, { status: 'abandoned', attempts: 10 })
  t.same(
    row?.latest.map(({ attempt, status }) => [attempt, status]),
    waitsMs.concat(0).map((_, index) => [index + 1, 503]),
  )
  t.notOk(row?.nextAttemptAt)
  t.same(await dueDeliveries(service), [])

  const deliveries = receiver.deliveriesOf(runId)
  const secret = webhookSecret(MASTER_SECRET, customer.accountId)
  for (const [index, { headers, body }] of deliveries.entries()) {
    const seconds = Math.floor((expectedAtMs[index] ?? 0) / 1000)
    const id = runId.replace('run_', 'msg_')
    t.equal(headers['webhook-id'], id)
    t.equal(headers['webhook-timestamp'], String(seconds))
    t.equal(headers['webhook-signature'], new Webhook(secret).sign(id, new Date(seconds * 1000), body))
    t.equal(body, deliveries[0]?.body)
  }
})

t.test('a receiver that recovers gets the webhook once', async t => {
  const { clock, service, log, customer } = await start(t)
  const receiver = await startReceiver(t, status(500))
  const runId = await requestRun(customer, receiver.url)
  await untilRecorded(log, 1, customer.accountId, runId)
  receiver.answer = status(299)
  clock.advance(5.5 * SECOND)
  const events = await untilRecorded(log, 2, customer.accountId, runId)
  t.match(events[1], { type: 'WebhookDelivered', data: { attempt: 2, status: 299 } })
  const row = await webhookRow(service, customer, runId)
  t.match(row, { status: 'delivered', attempts: 2, latest: [{ status: 500 }, { status: 299 }] })
  t.notOk(row?.nextAttemptAt ?? row?.latest[1]?.reason)
  t.same(await dueDeliveries(service), [])
  t.equal(receiver.deliveries.length, 2)
})

t.test('all attempts carry the same body, though an operator has refunded the run since', async t => {
  const { clock, service, log, customer } = await start(t)
  const receiver = await startReceiver(t, status(500))
  const runId = await requestRun(customer, receiver.url)
  await untilRecorded(log, 1, customer.accountId, runId)
  const operator = { kind: 'operator', name: 'ada' } as const
  unwrap(await service.core.services.refunds.refund(operator, runId, { reason: 'blurry' }))
  await caughtUp(service.core)
  clock.advance(5.5 * SECOND)
  await untilRecorded(log, 2, customer.accountId, runId)
  const [first, second] = receiver.deliveries
  t.equal(second?.body, first?.body)
})

/** The recorded outcome of a first attempt. */
const firstAttempt = async (t: Test, url: string, { clock, log, customer }: Place) => {
  const [event] = await untilRecorded(log, 1, customer.accountId, await requestRun(customer, url))
  t.match(event, { type: 'WebhookAttemptFailed', data: { attempt: 1 } })
  const { data } = event as Undelivered
  return { ...data, waitMs: Date.parse(data.nextAttemptAt ?? '') - clock.nowMs() }
}

const isDefaultWait = (waitMs: number) => waitMs >= 5 * SECOND && waitMs <= 5.5 * SECOND

t.test('a receiver that answers 410 gets no further attempts', async t => {
  const started = await start(t)
  const { service, log, customer } = started
  const receiver = await startReceiver(t, status(410, { 'Retry-After': '60' }))
  const runId = await requestRun(customer, receiver.url)
  const events = await untilRecorded(log, 2, customer.accountId, runId)
  t.match(events, [
    { type: 'WebhookAttemptFailed', data: { status: 410 } },
    { type: 'WebhookAbandoned', data: { attempts: 1 } },
  ])
  t.notOk('nextAttemptAt' in (events[0]?.data ?? {}))
  t.match(await webhookRow(service, customer, runId), { status: 'abandoned' })
  t.same(await dueDeliveries(service), [])
})

t.test('Retry-After delays the next attempt', async t => {
  const started = await start(t)
  const receiver = await startReceiver(t)
  const wait = async (retryAfter: string) => {
    receiver.answer = status(429, { 'Retry-After': retryAfter })
    const { waitMs } = await firstAttempt(t, receiver.url, started)
    return waitMs
  }
  const inMs = (ms: number) => new Date(started.clock.nowMs() + ms).toUTCString()
  t.equal(await wait('3600'), HOUR)
  t.equal(await wait(inMs(2 * HOUR)), 2 * HOUR)
  t.equal(await wait('9999999'), 24 * HOUR)
  t.equal(await wait(inMs(48 * HOUR)), 24 * HOUR)
  for (const short of ['0', '3', inMs(SECOND), inMs(-HOUR), 'soon', '-5', '1e9', ''])
    t.ok(isDefaultWait(await wait(short)), JSON.stringify(short))
})

t.test('a redirect is a failure and is not followed', async t => {
  const started = await start(t)
  const elsewhere = await startReceiver(t)
  const receiver = await startReceiver(t)
  for (const code of [301, 302, 303, 307, 308]) {
    receiver.answer = status(code, { Location: elsewhere.url })
    const { status: answered, reason, waitMs } = await firstAttempt(t, receiver.url, started)
    t.equal(answered, code)
    t.match(reason, String(code))
    t.ok(isDefaultWait(waitMs))
  }
  t.equal(receiver.deliveries.length, 5)
  t.same(elsewhere.deliveries, [])
})

t.test('a missing answer is a failure', async t => {
  const started = await start(t)
  const cut: Answer = response => response.destroy()
  const receiver = await startReceiver(t, cut)
  for (const url of [receiver.url, await freeAddress(), 'http://nobody.invalid/']) {
    const { status: answered, reason, waitMs } = await firstAttempt(t, url, started)
    t.equal(answered, undefined)
    t.match(reason, /^The (address|host)/)
    t.notMatch(reason, /127\.0\.0\.1|ECONN|ENOTFOUND/)
    t.ok(isDefaultWait(waitMs))
  }
})

t.test('a slow receiver does not delay another', async t => {
  const { service, log, customer } = await start(t)
  const slow = await startReceiver(t, hold)
  // More runs than slots for one host.
  const held = await Promise.all(Array.from({ length: 80 }, () => requestRun(customer, slow.url)))
  await slow.until(16)
  const quick = await startReceiver(t)
  const runIds = await Promise.all(Array.from({ length: 20 }, () => requestRun(customer, quick.url)))
  for (const runId of runIds) await untilRecorded(log, 1, customer.accountId, runId)
  const recorded = await untilRecorded(log, runIds.length, customer.accountId)
  t.same(new Set(recorded.map(event => event.data.runId)), new Set(runIds))
  await caughtUp(service.core)
  t.equal((await dueDeliveries(service)).length, held.length)
  slow.answer = status(200)
})

for (const [answered, type] of [
  [200, 'WebhookDelivered'],
  [500, 'WebhookAttemptFailed'],
] as const)
  t.test(`an attempt made twice at once is recorded once: ${type}`, async t => {
    const { folder, service, customer } = await start(t)
    const { core } = service
    const answers: (() => void)[] = []
    const receiver = await startReceiver(t, response => answers.push(() => response.writeHead(answered).end()))
    const runId = await requestRun(customer, receiver.url)
    await receiver.until(1)

    // This reactor believes that the lease has expired, like a process after a long suspension.
    const clock = new ManualClock(core.clock.nowMs() + MINUTE)
    const outbound = createOutbound({ allowPrivate: true })
    const present = new Presenter(new Addresses(() => service.url), core.config.usdPerCreditMicros, () => ({
      available: true,
    }))
    const other = new WebhooksReactor({ ...core, clock, outbound, present, ...ofNotices })
    t.teardown(() => outbound.close())
    other.start(core.progress.changes)
    await receiver.until(2)
    for (const answer of answers) answer()
    await Promise.all([other.stop(), service.stop()])

    t.equal(receiver.deliveries.length, 2)
    const { log, close } = await openFolder(folder, { environment: { MASTER_SECRET } })
    const recorded = await webhookEvents(log, customer.accountId, runId)
    await close()
    t.same(
      recorded.map(event => event.type),
      [type],
    )
  })

/** What these reactors need beside, to send what they have none of. */
const ofNotices = {
  secretsOf: () => ['whsec_AAAA'],
  brand: ourBrand,
  publicUrl: () => 'http://localhost',
  mailer: { send: () => Promise.reject(new Error('no mail is sent')) },
}

const unused = {
  refuses: () => false,
  get: () => Promise.reject(new Error('webhooks are only sent')),
  copy: () => Promise.reject(new Error('webhooks are only sent')),
  close: async () => undefined,
}

/** A run in progress, and a reactor that counts its attempts and its requests for leases. */
const startAlone = async (t: Test) => {
  const core = await openFolder(await temporaryFolder(t))
  t.teardown(() => core.close())
  const execute = async (...commands: AccountCommand[]) => {
    for (const command of commands) await core.accounts.execute({ kind: 'service' }, accountId(), command)
    await caughtUp(core)
  }
  await execute(open(), queueRun({ webhook: true }), startRun())

  const counts = { attempts: 0, leases: 0 }
  const lease: typeof core.views.lease = (...request) => {
    counts.leases += 1
    return core.views.lease(...request)
  }
  const post = async () => {
    counts.attempts += 1
    return { status: 200, retryAfter: undefined }
  }
  const startReactor = (accounts = core.accounts) => {
    const present = new Presenter(new Addresses(() => 'http://localhost'), core.config.usdPerCreditMicros, () => ({
      available: true,
    }))
    const others = { outbound: { ...unused, post }, present, ...ofNotices }
    const reactor = new WebhooksReactor({ ...core, accounts, views: { ...core.views, lease }, ...others })
    reactor.start(core.progress.changes)
    t.teardown(() => reactor.stop())
  }
  return { core, execute, counts, startReactor }
}

t.test('a replayed row of a recorded attempt leads to no attempt, and is not tried again and again', async t => {
  const { core, execute, counts, startReactor } = await startAlone(t)
  await execute(completeRun())
  const cells = [...(await cellsOf(core.views))].filter(([address]) => /^(rows|index)\/due/.test(address))
  t.equal(cells.length, 2)
  await execute(recordDelivered())
  await forgeCells(
    core.views,
    cells.map(([address, value]) => ({ address, value })),
  )
  startReactor()
  await until('a lease is asked for', () => counts.leases)
  await delay(SECOND)
  t.equal(counts.attempts, 0)
  t.ok(counts.leases <= 3, `${counts.leases} requests for leases`)
})

t.test('a webhook is sent at once although the account was read before another process ended the run', async t => {
  const { core, execute, counts, startReactor } = await startAlone(t)
  // For this process, no time passes since it has read the account.
  const clock = Object.assign(new ManualClock(systemClock.nowMs()), { monotonicMs: () => 0 })
  const accounts = accountsOn(core.log, clock)
  await accounts.recentState(accountId())
  startReactor(accounts)
  await execute(completeRun())
  await untilRecorded(core.log, 1, accountId())
  t.same(counts, { attempts: 1, leases: 1 })
})

t.test('a receiver that times out has failed', async t => {
  const { log, customer } = hanging
  const [event] = await untilRecorded(log, 1, customer.accountId, hangingRun)
  t.match(event, {
    type: 'WebhookAttemptFailed',
    data: { attempt: 1, reason: /did not respond completely within 15000 ms/ },
  })
  t.equal(silent.deliveries.length, 1)
})

/** An address without a listener. */
async function freeAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}/`
}
