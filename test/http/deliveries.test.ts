import t from 'tap'
import type { WebhookDelivery, WebhookDeliveryList } from '../../schemas/api/delivery.ts'
import type { RunId } from '../../schemas/primitives.ts'
import { caughtUp } from '../support/caught-up.ts'
import { type Client, picture } from '../support/client.ts'
import { startReceiver, status, untilRecorded, webhookEvents } from '../support/receiver.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'
import { until as waitUntil } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }
const service = await startService(t, {
  environment,
  providers: {
    sandbox: {
      ...instantProvider,
      submit: async (job, signal) =>
        job.input['prompt'] === 'endless' ? new Promise(() => undefined) : instantProvider.submit(job, signal),
    },
  },
})
const { log } = service.core
const operator = { kind: 'operator', name: 'ada' } as const
const customer = await openAccount(service, { credits: 1000 })
const stranger = await openAccount(service)
const receiver = await startReceiver(t)
const url = `${receiver.url}hook`

const runOf = async (request: object = picture): Promise<RunId> =>
  (await customer.run({ ...request, webhook_url: url }, { Prefer: 'wait=1' })).body.run_id

/** A delivered, an abandoned and a pending webhook, and one of a run that has not ended. */
const until = (count: number, run: RunId) => untilRecorded(log, count, customer.accountId, run)
const delivered = await runOf()
await until(1, delivered)
receiver.answer = status(410)
const abandoned = await runOf()
await until(2, abandoned)
receiver.answer = status(503, { 'Retry-After': '3600' })
const pending = await runOf()
await until(1, pending)
receiver.answer = status(202)
const waiting = await runOf({ model: 'gpt-6-1-terra', input: { prompt: 'endless' } })
const silent = (await customer.run(picture)).body.run_id
await caughtUp(service.core)

const list = async (query = '', client: Client = customer) =>
  (await client.send<WebhookDeliveryList>(`/v1/deliveries${query}`)).body
const ofRun = (run: string, client: Client = customer) => client.send<WebhookDeliveryList>(`/v1/runs/${run}/deliveries`)
const resend = (run: string, client: Client = customer) =>
  client.send<WebhookDelivery & { error: { code: string; message: string } }>(`/v1/runs/${run}/deliveries`, {
    method: 'POST',
  })
const runsOf = ({ data }: WebhookDeliveryList) => data.map(({ run_id }) => run_id)

t.test('the list has the deliveries of the account with their attempts, newest run first', async t => {
  const { data, has_more, next_cursor } = await list()
  t.same({ has_more, next_cursor }, { has_more: false, next_cursor: null })
  t.match(data, [
    { run_id: waiting, url, status: 'waiting', attempts: [] },
    {
      run_id: pending,
      status: 'pending',
      attempts: [{ attempt: 1, status_code: 503, error: 'The receiver answered with 503.', next_attempt_at: /Z$/ }],
    },
    { run_id: abandoned, status: 'abandoned', attempts: [{ attempt: 1, status_code: 410 }] },
    { run_id: delivered, status: 'delivered', attempts: [{ attempt: 1, status_code: 204 }] },
  ])
  t.equal(data[1]?.next_attempt_at, data[1]?.attempts[0]?.next_attempt_at)
  t.equal(data[3]?.webhook_id, receiver.deliveriesOf(delivered)[0]?.headers['webhook-id'])
  t.notOk(data[3]?.attempts[0]?.error ?? data[2]?.next_attempt_at ?? data[0]?.next_attempt_at)
})

t.test('pages of any size contain every delivery once, and a status selects', async t => {
  for (const limit of [1, 2, 3, 4]) {
    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await list(`?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      t.ok(page.data.length <= limit)
      found.push(...runsOf(page))
      cursor = page.next_cursor
    }
    t.same(found, [waiting, pending, abandoned, delivered], `limit ${limit}`)
  }
  for (const [state, run] of Object.entries({ waiting, pending, abandoned, delivered }))
    t.same(runsOf(await list(`?status=${state}`)), [run])
  for (const query of ['?status=lost', '?limit=0', '?limit=101', '?cursor=x', '?state=pending'])
    t.equal((await customer.send(`/v1/deliveries${query}`)).status, 400, query)
})

t.test('a run has one delivery, or none without a webhook_url', async t => {
  const { data } = await list()
  for (const run of [delivered, abandoned, pending, waiting]) {
    const { status, body } = await ofRun(run)
    t.equal(status, 200)
    t.same(
      body.data,
      data.filter(({ run_id }) => run_id === run),
    )
  }
  t.match((await ofRun(silent)).body, { object: 'list', data: [], has_more: false, next_cursor: null })
})

t.test('deliveries of another account are neither shown nor sent again', async t => {
  const before = await log.head()
  t.same((await list('', stranger)).data, [])
  t.same((await list(`?cursor=${waiting}`, stranger)).data, [])
  for (const run of [delivered, silent, 'run_01h455vb4pex5vsknk084sn02q', 'nonsense'])
    for (const ask of [ofRun, resend]) {
      const { status, body } = await ask(run, stranger)
      t.match({ status, body }, { status: 404, body: { error: { code: 'run_not_found' } } })
    }
  t.equal(await log.head(), before)
})

t.test('a webhook that is still due, or a run without one, is not sent again', async t => {
  const before = await webhookEvents(log, customer.accountId)
  t.match(await resend(pending), { status: 409, body: { error: { code: 'webhook_pending' } } })
  t.match(await resend(waiting), { status: 409, body: { error: { code: 'webhook_pending', message: /not ended/ } } })
  t.match(await resend(silent), { status: 404, body: { error: { code: 'not_found', message: /no webhook_url/ } } })
  t.same(await webhookEvents(log, customer.accountId), before)
})

for (const [name, run] of Object.entries({ delivered, abandoned }))
  t.test(`a webhook that was ${name} is sent again with the same id, and its attempts are added`, async t => {
    const [shown] = (await ofRun(run)).body.data
    const { status, body, headers } = await resend(run)
    t.equal(status, 202)
    t.match(body, { run_id: run, status: 'pending', url, next_attempt_at: /Z$/, attempts: shown?.attempts ?? [] })
    t.match(headers.get('Tollgate-Position'), /^\d+$/)

    const events = (
      await untilRecorded(log, (shown?.status === 'delivered' ? 1 : 2) + 2, customer.accountId, run)
    ).slice(-2)
    t.match(events, [
      { type: 'WebhookRedeliveryRequested', metadata: { actor: { kind: 'key', keyId: customer.keyId } } },
      { type: 'WebhookDelivered', data: { attempt: 1, status: 202 } },
    ])
    const [first, second, ...more] = receiver.deliveriesOf(run)
    t.same(more, [])
    t.equal(second?.headers['webhook-id'], first?.headers['webhook-id'])
    t.equal(second?.body, first?.body)
    await caughtUp(service.core)
    const [after] = (await ofRun(run)).body.data
    t.match(after, { status: 'delivered', attempts: [{ attempt: 1 }, { attempt: 1, status_code: 202 }] })
  })

t.test('of many requests at once, one is accepted', async t => {
  const run = await runOf()
  await until(1, run)
  receiver.answer = status(503, { 'Retry-After': '3600' })
  const replies = await Promise.all(Array.from({ length: 20 }, () => resend(run)))
  t.equal(replies.filter(reply => reply.status === 202).length, 1)
  t.equal(replies.filter(reply => reply.status === 409).length, 19)
})

t.test('a read key sees no query of an address', async t => {
  const run = (await customer.run({ ...picture, webhook_url: `${url}?secret=1` })).body.run_id
  await until(1, run)
  await caughtUp(service.core)
  const reader = await openKey(service, customer, { scope: 'read' })
  for (const [client, query] of [
    [customer, '?secret=1'],
    [reader, ''],
  ] as const) {
    t.match((await ofRun(run, client)).body.data, [{ url: `${url}${query}` }])
    t.match((await list('?limit=1', client)).data, [{ url: `${url}${query}` }])
  }
})

t.test('a key that was revoked, or has expired, since its request was authenticated sends nothing again', async t => {
  const { services, clock } = service.core
  const expiresAt = new Date(clock.nowMs() + 200).toISOString()
  const [revoked, expired] = [await openKey(service, customer), await openKey(service, customer, { expiresAt })]
  unwrap(await services.keys.revoke(operator, customer.accountId, revoked.keyId))
  await waitUntil('the key has expired', () => clock.nowMs() >= Date.parse(expiresAt))
  const head = await log.head()
  for (const [code, { accountId, keyId }] of [
    ['key_revoked', revoked],
    ['key_expired', expired],
  ] as const) {
    const answer = await services.deliveries.resend({ kind: 'key', scope: 'full', accountId, keyId }, delivered)
    t.match(answer, { refuse: { code } })
  }
  t.equal(await log.head(), head)
})

t.test('beyond a hundred in an hour, the owner must wait', async t => {
  // The service attempts some of these deliveries as well, each once.
  receiver.answer = status(410)
  const { accounts } = service.core
  const { webhookResends } = await accounts.state(customer.accountId)
  const caller = { kind: 'key', scope: 'full', accountId: customer.accountId, keyId: customer.keyId } as const
  for (let count = webhookResends.length; count < 100; count++) {
    await accounts.execute(caller, customer.accountId, {
      ...{ type: 'RedeliverWebhook', runId: delivered, url, keyId: customer.keyId },
    })
    // The service makes attempts meanwhile.
    for (;;) {
      const pending = (await accounts.state(customer.accountId)).deliveries.get(delivered)
      if (!pending) break
      const record = { type: 'RecordDelivery', runId: delivered, attempt: pending.attempts + 1 } as const
      await accounts.execute({ kind: 'reactor' }, customer.accountId, {
        ...record,
        outcome: { delivered: true, status: 200 },
      })
    }
  }
  const reply = await resend(delivered)
  t.equal(reply.status, 429)
  t.match(reply.body.error, { code: 'rate_limited', message: /had 100 webhooks sent again within an hour/ })
  t.ok(Number(reply.headers.get('Retry-After')) > 3000)
  unwrap(await service.core.services.webhooks.redeliver(operator, customer.accountId, delivered))
})
