import { connect } from 'node:net'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { MAX_CALLBACK_BYTES } from '../../schemas/primitives.ts'
import { Client } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { openLog, openStoredViews } from '../support/engine.ts'
import { report, reporting, reportingVendor } from '../support/reporting-vendor.ts'
import { tinyFilm } from '../support/sample-files.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { offer, order, syncOrder, vendorFamily } from '../support/vendor-families.ts'
import { falCallback, replicateCallback } from '../support/vendors/callbacks.ts'
import { FAL_KEY, newFalKey, startFal } from '../support/vendors/fal.ts'
import { REPLICATE_KEY, SIGNING_SECRET, startReplicate } from '../support/vendors/replicate.ts'
import { startVendorServer } from '../support/vendors/vendor-server.ts'

/** Half of the time to the next poll. */
const SOON = { maxWaitMs: 30_000 }

/** The stores that several services of a test share. */
const openStores = async (t: Test) => {
  const [log, views] = await Promise.all([openLog(t), openStoredViews(t)])
  const close = async () => undefined
  return { log: { ...log, close }, views: { ...views, close }, objects: await temporaryFolder(t) }
}

type Stores = Awaited<ReturnType<typeof openStores>>

const start = async (t: Test, { stores, roles }: { stores?: Stores; roles?: string } = {}) => {
  const vendor = reportingVendor()
  const { objects, ...others } = stores ?? {}
  const environment = {
    MASTER_SECRET: 's'.repeat(32),
    ...(objects && { OBJECT_STORE_URL: `file:${objects}` }),
    ...(roles && { ROLES: roles }),
  }
  const parts = { ...reporting, providers: { vendor: vendor.provider }, environment, ...others }
  return { vendor, service: await startService(t, parts) }
}

/** A logger, and the text of all that it was given. */
const recorder = () => {
  const logged: unknown[] = []
  const note = (...entry: unknown[]) => logged.push(entry)
  return {
    logger: { isLevelEnabled: () => true, debug: note, info: note, warn: note, error: note, fatal: note },
    text: () => inspect(logged, { depth: 20, maxStringLength: null, maxArrayLength: null }),
  }
}

const ends = (customer: Customer, runId: string) =>
  until(
    'the run has ended',
    async () => {
      const { body } = await customer.send(`/v1/runs/${runId}`)
      return body.completed_at && body
    },
    SOON,
  )

/** Starts a run whose job is submitted, as the views show. */
const submitted = async (customer: Customer, core: Awaited<ReturnType<typeof startService>>['core']) => {
  const { body } = await customer.run(order())
  await until('the views show the job', async () => {
    const row = await core.views.get<{ jobId?: string }>('due', body.run_id)
    return row?.jobId
  })
  return body.run_id
}

t.test('a callback makes the poll happen now', async t => {
  const { vendor, service } = await start(t)
  await offer(service.core, vendorFamily())
  const customer = await openAccount(service)
  const runId = await submitted(customer, service.core)
  vendor.isDone = true
  t.equal(await report(service.url, runId), 204)
  t.match(await ends(customer, runId), { status: 'completed', output: { text: 'done' } })
  t.same(vendor.polled, vendor.jobIds)

  await t.test('and the same callback again changes nothing', async t => {
    const events = async () => collect(service.core.log.readStream(`account-${customer.accountId}`, 0))
    const before = await events()
    for (let again = 0; again < 5; again++) t.equal(await report(service.url, runId), 204)
    await customer.balance()
    t.same(await events(), before)
    t.equal(vendor.polled.length, 1)
  })
})

t.test('a sync run is answered as soon as its callback comes', async t => {
  const { vendor, service } = await start(t)
  await offer(service.core, vendorFamily())
  const customer = await openAccount(service)
  vendor.isDone = true
  const answered = customer.run(syncOrder())
  const [jobId = ''] = await until('the job is submitted', () => vendor.jobIds.length > 0 && vendor.jobIds)
  const runId = jobId.replace('app/requests/of-', '')
  const reports = until('a poll', async () => (await report(service.url, runId)) && vendor.polled.length, SOON)
  t.match((await answered).body, { status: 'completed', output: { text: 'done' } })
  await reports
})

t.test('a callback about another job or without a signature causes no poll', async t => {
  const { vendor, service } = await start(t)
  await offer(service.core, vendorFamily())
  const customer = await openAccount(service)
  const runId = await submitted(customer, service.core)
  const anybody = new Client(service.url)
  const send = (path: string, body: string | Uint8Array = `of-${runId}`, signature = 'good') =>
    anybody.send(path, { method: 'POST', headers: { 'X-Signature': signature }, body })
  const address = `/callbacks/vendor?run=${runId}`

  for (const path of ['/callbacks/vendor', `${address}&other=1`]) {
    const body = path === '/callbacks/vendor' ? undefined : 'of-another-run'
    t.equal((await send(path, body)).status, 204, path)
  }
  t.equal((await send(`/callbacks/vendor?run=run_${'0'.repeat(26)}`)).status, 204, 'an unknown run')
  const forged = await send(address, undefined, 'forged')
  t.match(forged, { status: 400, body: { error: { code: 'invalid_request' } } })
  t.match(await send('/callbacks/vendor?run=anything'), { status: 400, body: { error: { code: 'invalid_request' } } })
  for (const path of ['/callbacks/nobody', '/callbacks/sandbox', '/callbacks/openai'])
    t.match(await send(path), { status: 404, body: { error: { code: 'not_found' } } }, path)
  const unknown = await send(address, undefined, 'unknown')
  t.match(unknown, { status: 503, body: { error: { code: 'unavailable' } } })
  t.ok(unknown.headers.get('Retry-After'))
  const large = await send(address, Buffer.alloc(MAX_CALLBACK_BYTES + 1))
  t.match(large, { status: 413, body: { error: { code: 'payload_too_large' } } })
  t.equal((await send(address, Buffer.alloc(MAX_CALLBACK_BYTES))).status, 204, 'the largest body')
  t.equal((await fetch(`${anybody.url}${address}`)).status, 405)
  t.same(vendor.polled, [])
})

t.test('a body that breaks off is no fault of the service, and one that is far too large is answered', async t => {
  const { logger, text } = recorder()
  const vendor = reportingVendor()
  const service = await startService(t, { ...reporting, providers: { vendor: vendor.provider }, logger })
  const broken = connect(service.port, '127.0.0.1')
  broken.write('POST /callbacks/vendor HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc')
  setTimeout(() => broken.destroy(), 200)
  await until('the request is logged', () => /status: 400/.test(text()))
  t.notMatch(text(), /unexpectedly/)
  const anybody = service.client()
  for (let again = 0; again < 2; again++) {
    const body = Buffer.alloc(20 * MAX_CALLBACK_BYTES)
    t.equal((await anybody.send('/callbacks/vendor', { method: 'POST', body })).status, 413)
  }
})

t.test('forged callbacks of a network are refused unread after a while, and good ones never are', async t => {
  const { service } = await start(t)
  const runId = `run_${'0'.repeat(26)}`
  for (let count = 0; count < 100; count++) t.equal(await report(service.url, runId), 204)
  const statuses = await Promise.all(
    Array.from({ length: 100 }, () => report(service.url, runId, { signature: 'forged' })),
  )
  t.ok(statuses.includes(400))
  t.ok(statuses.includes(429))
  t.equal(await report(service.url, runId), 429)
})

for (const [length, body] of [
  [`Content-Length: ${MAX_CALLBACK_BYTES}`, Buffer.alloc(MAX_CALLBACK_BYTES)],
  ['Transfer-Encoding: chunked', '0\r\n\r\n'],
] as const)
  t.test(`of twelve callbacks of a network that arrive at once, eight are refused: ${length}`, async t => {
    const { service } = await start(t)
    const statuses: string[] = []
    const sockets = Array.from({ length: 12 }, () => connect(service.port, '127.0.0.1'))
    for (const socket of sockets) {
      t.teardown(() => socket.destroy())
      socket.once('data', answer => statuses.push(String(answer).slice(9, 12)))
      socket.write(`POST /callbacks/vendor HTTP/1.1\r\nHost: a\r\nX-Signature: good\r\n${length}\r\n\r\n`)
    }
    await until('eight are answered', () => statuses.length >= 8)
    for (const socket of sockets) socket.write(body)
    await until('all are answered', () => statuses.length === 12)
    t.same(statuses, [...Array(8).fill('429'), ...Array(4).fill('204')])
  })

t.test('a process that does not follow the job polls it once', async t => {
  const stores = await openStores(t)
  const one = await start(t, { stores })
  await offer(one.service.core, vendorFamily())
  const other = await start(t, { stores })
  const customer = await openAccount(one.service)
  const runId = await submitted(customer, one.service.core)
  const follower = one.vendor.jobIds.length > 0 ? one : other
  const stranger = follower === one ? other : one

  t.equal(await report(stranger.service.url, runId), 204)
  await until('a poll', () => stranger.vendor.polled.length, SOON)
  stranger.vendor.isDone = true
  t.equal(await report(stranger.service.url, runId), 204)
  t.match(await ends(customer, runId), { status: 'completed' })
  t.equal(stranger.vendor.polled.length, 2)
  t.same(follower.vendor.polled, [])
  const events = await collect(one.service.core.log.readStream(`account-${customer.accountId}`, 0))
  t.equal(events.filter(({ type }) => type === 'RunCompleted').length, 1)
})

t.test('a process with only the role reactors takes callbacks, and one without it leaves the job to polls', async t => {
  const stores = await openStores(t)
  const api = await start(t, { stores, roles: 'api,projector' })
  await offer(api.service.core, vendorFamily())
  const reactors = await start(t, { stores, roles: 'reactors' })
  const customer = await openAccount(api.service)
  const runId = await submitted(customer, api.service.core)
  reactors.vendor.isDone = true
  t.equal(await report(api.service.url, runId), 204)
  t.match((await customer.send(`/v1/runs/${runId}`)).body, { status: 'processing' })
  t.same(api.vendor.polled, [])
  t.equal(await report(reactors.service.url, runId), 204)
  t.match(await ends(customer, runId), { status: 'completed' })
  t.equal(reactors.vendor.polled.length, 1)
  const projector = await start(t, { stores, roles: 'projector' })
  t.equal(await report(projector.service.url, runId), 404)
})

const OTHER_KEY = REPLICATE_KEY.replace('r8_', 'r8_other')
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`

t.test('fal and Replicate are told where to report, and their callbacks are verified', async t => {
  const [fal, replicate] = await Promise.all([startFal(t), startReplicate(t)])
  const falKey = newFalKey()
  fal.keys = [falKey.publicKey]
  replicate.secrets.set(OTHER_KEY, OTHER_SECRET)
  replicate.models = ['google/imagen-4-fast', 'black-forest-labs/flux-2-pro', 'qwen/qwen-image']
  const files = await startVendorServer(t, (_, response) =>
    response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(tinyFilm()),
  )
  fal.job = {
    states: [{ status: 'IN_PROGRESS' }],
    result: { status: 200, body: { video: { url: `${files.url}/film.mp4`, content_type: 'video/mp4' } } },
  }
  const { logger, text } = recorder()
  const environment = {
    ...{ PUBLIC_URL: 'https://tollgate.example', ALLOW_PRIVATE_WEBHOOKS: 'true' },
    ...{ FAL_KEY, FAL_BASE_URL: fal.url, REPLICATE_BASE_URL: replicate.url },
    REPLICATE_API_TOKEN: `${REPLICATE_KEY},${OTHER_KEY}`,
  }
  const service = await startService(t, { environment, logger })
  const customer = await openAccount({ ...service, url: `http://127.0.0.1:${service.port}` }, { credits: 10_000 })
  const { body: run } = await customer.run({ model: 'kling-3-pro', input: { prompt: 'waves at night' } })
  const [request] = await until('the job is submitted', () => fal.requests.length > 0 && fal.requests)
  const address = new URL(new URL(request?.path ?? '', fal.url).searchParams.get('fal_webhook') ?? '')
  t.equal(address.href, `https://tollgate.example/callbacks/fal?run=${run.run_id}`)

  const anybody = customer.at(customer.url)
  const send = (path: string, { headers, body }: { headers: Record<string, string>; body: Uint8Array }) =>
    anybody.send(path, { method: 'POST', headers, body })
  const path = address.pathname + address.search
  const secretBody = JSON.stringify({ request_id: 'x', payload: { text: 'a-secret-in-a-body' } })
  t.equal((await send(path, falCallback(falKey.privateKey, { body: secretBody }))).status, 204)
  t.equal((await send(path, falCallback(newFalKey().privateKey, { body: secretBody }))).status, 400)
  const old = falCallback(falKey.privateKey, { body: secretBody, atMs: Date.now() - 6 * 60_000 })
  t.equal((await send(path, old)).status, 400, 'an old one')

  const replicatePath = `/callbacks/replicate?run=${run.run_id}&secret=a-secret-in-a-query`
  for (const secret of [SIGNING_SECRET, OTHER_SECRET])
    t.equal((await send(replicatePath, replicateCallback({ secret }))).status, 204, secret)
  const stranger = `whsec_${Buffer.alloc(24, 5).toString('base64')}`
  t.equal((await send(replicatePath, replicateCallback({ secret: stranger }))).status, 400)

  t.match(text(), /callbacks\/fal/, 'requests are logged')
  for (const secret of [FAL_KEY, REPLICATE_KEY, OTHER_KEY, SIGNING_SECRET, OTHER_SECRET, 'a-secret-in'])
    t.notOk(text().includes(secret), secret)
})

t.test('while keys cannot be fetched, providers are asked to repeat callbacks, and no key is shown', async t => {
  const [fal, replicate] = await Promise.all([startFal(t), startReplicate(t)])
  const { logger, text } = recorder()
  const environment = {
    ...{ FAL_KEY, FAL_BASE_URL: fal.url },
    ...{ REPLICATE_API_TOKEN: REPLICATE_KEY, REPLICATE_BASE_URL: replicate.url },
  }
  const service = await startService(t, { environment, logger })
  fal.fault = replicate.fault = { status: 401, body: { detail: `no access with ${FAL_KEY} or ${REPLICATE_KEY}` } }
  for (const [path, { headers, body }] of [
    ['/callbacks/fal', falCallback(newFalKey().privateKey)],
    ['/callbacks/replicate', replicateCallback()],
  ] as const)
    for (const attempt of ['while they are fetched', 'a moment later']) {
      const answer = await service.client().send(path, { method: 'POST', headers, body })
      t.match(answer, { status: 503, body: { error: { code: 'unavailable' } } }, `${path} ${attempt}`)
      t.notMatch(answer.text, /access|fal|Replicate/)
    }
  t.equal(fal.requests.length, 1)
  t.equal(replicate.requests.length, 1)
  t.match(text(), /Replicate answered with 401/, 'the operator is told why')
  for (const secret of [FAL_KEY, REPLICATE_KEY, 'no access']) t.notOk(text().includes(secret), secret)
})
