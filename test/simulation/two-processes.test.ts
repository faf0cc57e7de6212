import t, { type Test } from 'tap'
import { type Client, picture, type Reply, sandbox } from '../support/client.ts'
import { allRuns, auditFolder } from '../support/ledger.ts'
import { operatorOf } from '../support/operator.ts'
import { type AccountOptions, openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

/** Two services on one folder, and a client of one account for each. */
const startTwo = async (t: Test, options: AccountOptions) => {
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, options)
  const processes = await Promise.all([startServiceProcess(t, folder), startServiceProcess(t, folder)])
  const [one, other] = processes.map(({ url }) => customer.at(url)) as [Client, Client]
  const stop = async () => {
    for (const { code, stderr } of await Promise.all(processes.map(process => process.end('SIGTERM'))))
      t.same({ code, stderr }, { code: 0, stderr: '' })
    return auditFolder(folder)
  }
  return { one, other, stop, operator: operatorOf(folder) }
}

/** Sends run requests to both at once. A 503 means that the other process was faster, so the request is repeated. */
const requestFromBoth = (clients: Client[], times: number, request: object): Promise<Reply[]> =>
  Promise.all(
    Array.from({ length: times }, (_, index) => untilDecided(clients[index % clients.length] as Client, request)),
  )

const untilDecided = (client: Client, request: object): Promise<Reply> =>
  until('the request is decided', async () => {
    const reply = await client.run(request)
    return reply.status !== 503 && reply
  })

const count = (replies: Reply[], status: number) => replies.filter(reply => reply.status === status).length

t.test('two processes make exactly ten pictures with credits for ten', async t => {
  const { one, other, stop } = await startTwo(t, { credits: 100 })
  const replies = await requestFromBoth([one, other], 60, picture)
  t.equal(count(replies, 200), 10)
  t.equal(count(replies, 402), 50)
  t.same([await one.balance(), await other.balance()], [0, 0])

  const audit = await stop()
  t.same(audit.faults, [])
  t.same(
    [...audit.ledgers.values()].map(ledger => ledger.balanceMicros),
    [0],
  )
  t.equal(allRuns(audit).size, 10)
})

t.test('two processes neither lose nor repeat appends to one account', async t => {
  const [requests, credits] = isLong ? [400, 150] : [100, 40]
  const { one, other, stop } = await startTwo(t, { credits, tester: true })
  const replies = await requestFromBoth([one, other], requests, sandbox())
  const accepted = replies.filter(reply => reply.status === 200)
  t.equal(accepted.length, credits)
  t.equal(count(replies, 402), requests - credits)
  t.ok(accepted.every(reply => reply.body.status === 'completed'))

  const audit = await stop()
  t.same(audit.faults, [])
  const runs = allRuns(audit)
  t.same(new Set(runs.keys()), new Set(accepted.map(reply => reply.body.run_id)))
  t.ok([...runs.values()].every(run => run.end === 'completed'))
})

t.test('an idempotency key makes one run across processes', async t => {
  const { one, other, stop } = await startTwo(t, { credits: 100, tester: true })
  const ask = (client: Client) => client.run(sandbox({ delay_ms: 300 }), { 'Idempotency-Key': 'shared' })
  const replies = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index % 2 ? one : other)))
  t.equal(new Set(replies.map(reply => reply.text)).size, 1)
  t.match(replies[0]?.body, { status: 'completed' })
  t.equal(replies.filter(reply => reply.headers.get('Idempotent-Replayed')).length, 39)

  const audit = await stop()
  t.same(audit.faults, [])
  t.equal(allRuns(audit).size, 1)
})

t.test('a repeated request returns its run from another process even after the model is withdrawn', async t => {
  const { one, other, operator } = await startTwo(t, { credits: 100, tester: true })
  const key = { 'Idempotency-Key': 'before' }
  await other.run(sandbox())
  const { body } = await one.run(sandbox(), key)
  await operator.json(t, 'catalog', 'withdraw', 'sandbox')
  const isRefused = async () => (await other.run(sandbox())).status === 404
  await until('the family is withdrawn', isRefused)
  t.match(await other.run(sandbox(), key), { status: 200, body: { run_id: body.run_id } })
  t.equal((await other.run(sandbox({ prompt: 'another' }), key)).status, 422)
})
