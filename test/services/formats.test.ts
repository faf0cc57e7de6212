import { readFile } from 'node:fs/promises'
import t from 'tap'
import type { AccountId } from '../../schemas/primitives.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import type { RunRow } from '../../schemas/views.ts'
import { margins } from '../../src/audit/costs.ts'
import { proveStatement } from '../../src/audit/proofs/statement.ts'
import { verifyLog } from '../../src/audit/verify/verify.ts'
import { fromMicros } from '../../src/domain/money.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { BY_KEY } from '../../src/ports/view-store.ts'
import { boundTo } from '../support/bound-to.ts'
import { checkers, needsPython } from '../support/checkers.ts'
import { collect } from '../support/collect.ts'
import { copyFixtureLog } from '../support/fixture-log.ts'
import { checkChains } from '../support/links.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { instantProvider, openFolder, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** What the version that wrote a log said of it. */
interface Expected {
  account: AccountId
  apiKey: string
  balanceMicros: number
  /** A run that waits. */
  openRun: string
  idempotency: { key: string; run: string; request: { model: string; input: object } }
  writtenAt: string
  runs: string[]
  costs: { costs: Record<string, number>; [sum: string]: unknown }[]
  streams: Record<string, { events: number; last: string }>
}

/** Nobody has kept the key that seals the log. */
const environment = { ROLES: 'api,projector,reactors' }

const readAll = (log: EventLog) => collect(log.readAll(BEFORE_FIRST))

for (const format of [2, 3]) {
  const expected: Expected = JSON.parse(await readFile(`test/fixtures/format-${format}/expected.json`, 'utf8'))
  const { account, apiKey, balanceMicros, idempotency, openRun } = expected
  /** When the idempotency key still counts. */
  const clock = () => new ManualClock(Date.parse(expected.writtenAt) + 60_000)

  t.test(`format ${format}: the log is sound, and says what it said`, async t => {
    const core = await openFolder(await copyFixtureLog(t, format), { clock: clock() })
    t.teardown(core.close)
    const events = await readAll(core.log)
    const chains = checkChains(events)
    for (const [stream, { events, last }] of Object.entries(expected.streams))
      t.match(chains[stream], { events, last, formats: String(format).repeat(events) }, stream)
    t.match(await verifyLog(core.log, { isDense: true }), { faults: [], notes: [] })
    t.equal((await core.accounts.state(account)).balanceMicros, balanceMicros)
    const runs = await core.views.list<RunRow>('runs', BY_KEY, { prefix: '', limit: 100 })
    t.same(runs.map(({ row }) => row.runId).toSorted(), expected.runs.toSorted())
    const [sums, ...others] = await margins(core.log)
    const { costs, ...row } = expected.costs[0] as Expected['costs'][0]
    t.match({ ...sums, chargedMicros: Number(sums?.chargedMicros), refundedMicros: Number(sums?.refundedMicros) }, row)
    t.same([Object.fromEntries(sums?.costs ?? []), others], [{ USD: BigInt(costs['USD'] ?? 0) }, []])
  })

  t.test(`format ${format}: both checkers accept what the log proves`, needsPython, async t => {
    const core = await openFolder(await copyFixtureLog(t, format), { clock: clock() })
    t.teardown(core.close)
    const proof = JSON.stringify(await proveStatement(core.log, account))
    const keys = (await readAll(core.log)).filter(({ type }) => type === 'SealKeyAdopted').map(keyIn)
    for (const [name, check] of Object.entries(checkers))
      t.same(await check([Buffer.from(proof)], JSON.stringify({ keys })), ['right'], name)
  })

  t.test(`format ${format}: the account goes on in the present format, and its runs go on too`, async t => {
    const folder = await copyFixtureLog(t, format)
    const providers = { vendor: instantProvider }
    const bindingsOf = boundTo('vendor')
    const service = await startService(t, { folder, clock: clock(), environment, providers, bindingsOf })
    const customer = service.client(apiKey)
    const { key, run, request } = idempotency
    const repeated = await customer.run(request, { 'Idempotency-Key': key })
    t.match(repeated, { status: 200, body: { run_id: run } })
    t.equal(await customer.balance(), fromMicros(balanceMicros))
    await until('the run that waited is done', async () => {
      const { body } = await customer.send<{ status: string }>(`/v1/runs/${openRun}`)
      return body.status === 'completed'
    })
    t.match(await customer.run(request), { status: 200, body: { status: 'completed' } })
    t.equal(await customer.balance(), fromMicros(balanceMicros - 1_000_000))
    await service.stop()

    const core = await openFolder(folder)
    t.teardown(core.close)
    const { events = 0 } = expected.streams[`account-${account}`] ?? {}
    const formats = new RegExp(`^${format}{${events}}4+$`)
    t.match(checkChains(await readAll(core.log))[`account-${account}`], { formats })
    t.match(await verifyLog(core.log, { isDense: true }), { faults: [] })
  })
}

const keyIn = ({ data }: RawEvent) => (data as { key: object }).key
