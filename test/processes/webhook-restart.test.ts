import t, { type Test } from 'tap'
import type { RunId } from '../../schemas/primitives.ts'
import { sandbox } from '../support/client.ts'
import { auditFolder } from '../support/ledger.ts'
import { hold, startReceiver, status, type WebhookRecord, webhookEvents } from '../support/receiver.ts'
import { type Customer, openAccounts, openFolder } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

// Deliveries of a killed process are retried when their lease ends, after 30 s.
t.setTimeout(240_000)
t.jobs = 3

/** The number of concurrent attempts to one host; other deliveries stay due. */
const SLOTS_PER_HOST = 64

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }

const start = async (t: Test) => {
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, { credits: 1000, tester: true })
  return { folder, customer }
}

const requestRun = async (customer: Customer, url: string, webhookUrl: string, input = {}): Promise<RunId> =>
  (await customer.at(url).run({ ...sandbox(input), webhook_url: webhookUrl }, { Prefer: 'wait=1' })).body.run_id

const requestRuns = (count: number, customer: Customer, url: string, webhookUrl: string): Promise<RunId[]> =>
  Promise.all(Array.from({ length: count }, () => requestRun(customer, url, webhookUrl)))

/** Reads the webhook events of each run from a closed log. */
const readRecords = async (folder: string, customer: Customer): Promise<Map<RunId, WebhookRecord[]>> => {
  const { log, close } = await openFolder(folder)
  const records = new Map<RunId, WebhookRecord[]>()
  for (const event of await webhookEvents(log, customer.accountId)) {
    const { runId } = event.data
    records.set(runId, [...(records.get(runId) ?? []), event])
  }
  await close()
  return records
}

const attempts = (records: WebhookRecord[] | undefined) =>
  records?.map(({ type, data }) => [type, 'attempt' in data && data.attempt])

t.test('a killed service loses no webhook at any stage of delivery', async t => {
  const { folder, customer } = await start(t)
  const [quick, slow, broken] = await Promise.all([
    startReceiver(t),
    startReceiver(t, hold),
    startReceiver(t, status(500)),
  ])
  const first = await startServiceProcess(t, folder, environment)
  const done = await requestRuns(10, customer, first.url, quick.url)
  await quick.until(done.length)
  const undone = [
    ...(await requestRuns(10, customer, first.url, broken.url)),
    ...(await requestRuns(SLOTS_PER_HOST + 16, customer, first.url, slow.url)),
    // This run is lost with its process and fails as interrupted.
    await requestRun(customer, first.url, slow.url, { delay_ms: 600_000 }),
  ]
  await broken.until(10)
  await slow.until(1)
  await first.end('SIGKILL')

  const before = [quick, slow, broken].map(receiver => receiver.deliveries.length)
  slow.answer = status(200)
  broken.answer = status(200)
  const left = await readRecords(folder, customer)
  t.notOk(undone.some(runId => left.get(runId)?.some(event => event.type === 'WebhookDelivered')))

  const second = await startServiceProcess(t, folder, environment)
  const deliveredAfter = () =>
    [quick, slow, broken].flatMap((receiver, index) => receiver.deliveries.slice(before[index]))
  const isDelivered = (runId: RunId) => deliveredAfter().some(delivery => delivery.event.data.run_id === runId)
  await until('all webhooks are delivered', () => undone.every(isDelivered), { maxWaitMs: 150_000 })
  const { code, stderr } = await second.end('SIGTERM')
  t.same({ code, stderr }, { code: 0, stderr: '' })

  const records = await readRecords(folder, customer)
  for (const runId of [...done, ...undone]) {
    const deliveries = records.get(runId)?.filter(event => event.type === 'WebhookDelivered')
    t.equal(deliveries?.length, 1, runId)
  }
  t.equal(records.size, done.length + undone.length)
  t.equal(slow.deliveriesOf(undone.at(-1) ?? '').at(-1)?.event.type, 'run.failed')
  t.same((await auditFolder(folder)).faults, [])
})

t.test('a stopped service records no unfinished attempt', async t => {
  const { folder, customer } = await start(t)
  const receiver = await startReceiver(t, hold)
  const first = await startServiceProcess(t, folder, environment)
  const runId = await requestRun(customer, first.url, receiver.url)
  await receiver.until(1)
  const ended = await first.end('SIGTERM')
  t.same({ code: ended.code, stderr: ended.stderr }, { code: 0, stderr: '' })
  t.same(attempts((await readRecords(folder, customer)).get(runId)), undefined)

  receiver.answer = status(200)
  const second = await startServiceProcess(t, folder, environment)
  await receiver.until(2)
  await second.end('SIGTERM')
  t.same(attempts((await readRecords(folder, customer)).get(runId)), [['WebhookDelivered', 1]])
})

t.test('two services on one folder record an attempt once even if both make it', async t => {
  const { folder, customer } = await start(t)
  const answers: (() => void)[] = []
  const receiver = await startReceiver(t, (response, { path }) =>
    answers.push(() => response.writeHead(Number(path.slice(1))).end()),
  )
  const processes = await Promise.all([1, 2].map(() => startServiceProcess(t, folder, environment)))
  const requests = processes.flatMap(({ url }) =>
    [200, 500].map(code => requestRuns(3, customer, url, `${receiver.url}${code}`)),
  )
  const runIds = (await Promise.all(requests)).flat()
  await receiver.until(runIds.length)
  await endLeases(folder, runIds)
  await receiver.until(2 * runIds.length)
  for (const answer of answers) answer()
  for (const { code, stderr } of await Promise.all(processes.map(each => each.end('SIGTERM'))))
    t.same({ code, stderr }, { code: 0, stderr: '' })

  const records = await readRecords(folder, customer)
  for (const runId of runIds) {
    t.equal(receiver.deliveriesOf(runId).length, 2)
    const type = receiver.deliveriesOf(runId)[0]?.path === '/200' ? 'WebhookDelivered' : 'WebhookAttemptFailed'
    t.same(attempts(records.get(runId)), [[type, 1]])
  }
})

/** Ends the leases of deliveries, as after a long suspension of the process. */
async function endLeases(folder: string, runIds: RunId[]) {
  const { views, close } = await openFolder(folder)
  const keys = runIds.map(runId => `webhook/${runId}`)
  const laterMs = Date.now() + 3_600_000
  await views.lease(keys, 'nobody', laterMs, laterMs + 1)
  await views.release(keys, 'nobody')
  await close()
}
