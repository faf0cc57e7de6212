import t from 'tap'
import type { ApiKey } from '../../schemas/api/key.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { Reply } from '../support/client.ts'
import { sandbox } from '../support/client.ts'
import { auditFolder } from '../support/ledger.ts'
import { openAccount, openFolder, openKey } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

// The processes share two cores with other tests.
t.setTimeout(120_000)

/** Many more than the budget allows. */
const REQUESTS = isLong ? 1000 : 200
const BUDGET_CREDITS = 30

t.test('parallel requests to two processes spend a budget exactly, and a revoked key spends nothing', async t => {
  const folder = await temporaryFolder(t)
  const core = await openFolder(folder)
  const place = { core, url: 'http://localhost' }
  const owner = await openAccount(place, { credits: 5000, tester: true })
  const limited = await openKey(place, owner, { budget: { amountMicros: toMicros(BUDGET_CREDITS), period: 'month' } })
  const manager = await openKey(place, owner, { scope: 'keys' })
  await core.close()
  const processes = await Promise.all([startServiceProcess(t, folder), startServiceProcess(t, folder)])
  const [one, other] = processes.map(({ url }) => limited.at(url))
  if (!one || !other) throw new Error('there are no processes')

  // A 503 means that the other process was faster, so the request is repeated.
  const decided = (number: number): Promise<Reply> =>
    until('the request is decided', async () => {
      const reply = await (number % 2 === 0 ? one : other).run(sandbox())
      return reply.status !== 503 && reply
    })
  const replies = await Promise.all(Array.from({ length: REQUESTS }, (_, number) => decided(number)))
  t.equal(replies.filter(({ status }) => status === 200).length, BUDGET_CREDITS)
  const refused = replies.filter(({ status }) => status === 402)
  t.equal(refused.length, REQUESTS - BUDGET_CREDITS)
  for (const { body } of refused)
    t.match(body.error, { code: 'budget_exceeded', budget_credits: BUDGET_CREDITS, spent_credits: BUDGET_CREDITS })
  for (const client of [one, other])
    t.match((await client.send<ApiKey>('/v1/key')).body.budget, { spent_credits: BUDGET_CREDITS, credits_left: 0 })

  // The run of a key that another process has revoked is refused at once, and everything else within a second.
  const unlimited = manager.at(processes[0]?.url as string)
  const { status } = await unlimited.send(`/v1/keys/${limited.keyId}`, { method: 'DELETE' })
  t.equal(status, 200)
  t.equal((await other.run(sandbox())).status, 401)
  await until('the other process refuses the key', async () => (await other.send('/v1/balance')).status === 401)

  for (const { code, stderr } of await Promise.all(processes.map(process => process.end('SIGTERM'))))
    t.same({ code, stderr }, { code: 0, stderr: '' })
  const { faults, ledgers } = await auditFolder(folder)
  t.same(faults, [])
  t.equal(ledgers.get(owner.accountId)?.balanceMicros, toMicros(5000 - BUDGET_CREDITS))
})
