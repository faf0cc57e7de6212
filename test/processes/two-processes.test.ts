import t from 'tap'
import { type Client, picture, type Reply, sandbox } from '../support/client.ts'
import { auditFolder } from '../support/ledger.ts'
import { operatorOf } from '../support/operator.ts'
import { count, requestFromBoth } from '../support/request-from-both.ts'
import { type Customer, openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

const rich = { credits: 100, tester: true }

/** A named budget. */
const TASK = '/v1/budgets/a%20task'

t.test('two processes on one folder', async t => {
  const [requests, credits] = isLong ? [400, 150] : [100, 40]
  const folder = await temporaryFolder(t)
  const customers = await openAccounts(folder, { credits: 100 }, { credits, tester: true }, rich, rich, {
    credits: 10_000,
  })
  const processes = await Promise.all([startServiceProcess(t, folder), startServiceProcess(t, folder)])
  const both = (customer: Customer) => processes.map(({ url }) => customer.at(url)) as [Client, Client]
  const [painter, spender, repeater, late, agent] = customers
  /** The runs of each account that clients know of. */
  const answered = new Map<string, Set<string>>()
  const note = ({ accountId }: Customer, replies: Reply[]) =>
    answered.set(accountId, new Set(replies.map(({ body }) => body.run_id)))

  await t.test('make exactly ten pictures with credits for ten', async t => {
    const clients = both(painter)
    const replies = await requestFromBoth(clients, 60, picture)
    const accepted = replies.filter(reply => reply.status === 200)
    t.equal(accepted.length, 10)
    t.equal(count(replies, 402), 50)
    t.same(await Promise.all(clients.map(client => client.balance())), [0, 0])
    note(painter, accepted)
  })

  await t.test('neither lose nor repeat appends to one account', async t => {
    const replies = await requestFromBoth(both(spender), requests, sandbox())
    const accepted = replies.filter(reply => reply.status === 200)
    t.equal(accepted.length, credits)
    t.equal(count(replies, 402), requests - credits)
    t.ok(accepted.every(reply => reply.body.status === 'completed'))
    note(spender, accepted)
  })

  await t.test('spend a named budget in full, and not a microcredit more', async t => {
    const clients = both(agent)
    const [first, second] = clients
    const task = { name: 'a task', credits: 129.999999 }
    t.equal((await first.post('/v1/budgets', task)).status, 201)
    await until('the other process knows the budget', async () => (await second.send(TASK)).status === 200)
    const replies = await requestFromBoth(clients, isLong ? 1000 : 100, { ...picture, budget: task.name })
    const accepted = replies.filter(reply => reply.status === 200)
    t.equal(accepted.length, 12)
    t.equal(count(replies, 402), replies.length - 12)
    for (const { body } of replies.filter(reply => reply.status === 402))
      t.match(body.error, { code: 'budget_exceeded' })
    for (const client of clients)
      t.match((await client.send(TASK)).body, { spent_credits: 120, credits_left: 9.999999 })
    note(agent, accepted)
  })

  await t.test('make one run for an idempotency key', async t => {
    const clients = both(repeater)
    const ask = (client: Client) => client.run(sandbox({ delay_ms: 300 }), { 'Idempotency-Key': 'shared' })
    const replies = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(clients[index % 2] as Client)))
    t.equal(new Set(replies.map(reply => reply.text)).size, 1)
    t.match(replies[0]?.body, { status: 'completed' })
    t.equal(replies.filter(reply => reply.headers.get('Idempotent-Replayed')).length, 39)
    note(repeater, replies)
  })

  await t.test('return a run to a repeated request even after its model is withdrawn', async t => {
    const [one, other] = both(late)
    const key = { 'Idempotency-Key': 'before' }
    await other.run(sandbox())
    const { body } = await one.run(sandbox(), key)
    await operatorOf(folder).json(t, 'catalog', 'withdraw', 'sandbox')
    const isRefused = async () => (await other.run(sandbox())).status === 404
    await until('the family is withdrawn', isRefused)
    t.match(await other.run(sandbox(), key), { status: 200, body: { run_id: body.run_id } })
    t.equal((await other.run(sandbox({ prompt: 'another' }), key)).status, 422)
  })

  await t.test('leave a log without faults', async t => {
    for (const { code, stderr } of await Promise.all(processes.map(process => process.end('SIGTERM'))))
      t.same({ code, stderr }, { code: 0, stderr: '' })
    const { faults, ledgers } = await auditFolder(folder)
    t.same(faults, [])
    t.equal(ledgers.get(painter.accountId)?.balanceMicros, 0)
    for (const [accountId, runIds] of answered) {
      const runs = ledgers.get(accountId)?.runs ?? new Map()
      t.same(new Set(runs.keys()), runIds)
      t.ok([...runs.values()].every(run => run.end === 'completed'))
    }
  })
})
