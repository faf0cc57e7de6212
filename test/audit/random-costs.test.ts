import t from 'tap'
import { costOf, type LotUse, type ProviderCost } from '../../schemas/account-events.ts'
import { accountStream, type RecordedEvent } from '../../schemas/events.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { margins, providerStatement } from '../../src/audit/costs.ts'
import { trialBalance } from '../../src/audit/trial-balance.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { partGivenBack, usesWithout } from '../../src/domain/account/lots.ts'
import { toMicros } from '../../src/domain/money.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import {
  accountId,
  cancelRun,
  completeRun,
  debitFacts,
  failRun,
  grantCredits,
  openAccount,
  queueRun,
  runId,
  startRun,
  submitRun,
} from '../support/account-samples.ts'
import { collect } from '../support/collect.ts'
import { accountsOn } from '../support/engine.ts'
import { exported } from '../support/exported.ts'
import { tokenReceipt } from '../support/ledger-events.ts'
import { logOf } from '../support/log-of.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { seededRandom, testSeed } from '../support/seeded-random.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const seed = testSeed()
t.comment(`TEST_SEED=${seed}`)
const random = seededRandom(seed)
const happens = (chance: number) => random() < chance
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item

const PROVIDERS = ['fal', 'openai', 'replicate']
const FAMILIES = ['kling-3-pro', 'nano-banana-2']
const ACCOUNTS = 3
const RUNS = 60

const upstream = () => ({ provider: pick(PROVIDERS), model: pick(['a/b', 'c']), account: '12345678' })

const cost = (): ProviderCost => {
  const salt = '0'.repeat(32)
  if (happens(0.3)) return { source: 'unknown', salt }
  const amountMicros = Math.floor(random() * 10_000_000)
  return { amountMicros, currency: pick(['USD', 'USD', 'EUR']), source: 'price_list', units: { seconds: 1.5 }, salt }
}

const worked = () => ({ upstream: upstream(), ...(happens(0.8) && { cost: cost() }) })

/** The commands of a run, in which anything may be missing that may be missing. */
const lifeOf = (run: number): AccountCommand[] => {
  const queued = queueRun({ run, credits: 1 + Math.floor(random() * 9) })
  const model = pick(FAMILIES)
  const receipt = happens(0.3) ? tokenReceipt(10_000) : queued.receipt
  const priced = { ...receipt, model, usdPerCreditMicros: toMicros(1) }
  const queue = { ...queued, run: { ...queued.run, model }, receipt: priced }
  if (happens(0.1)) return [queue, cancelRun(run)]
  const start = { ...startRun(run), upstream: upstream() }
  const submit = { ...submitRun(run), upstream: upstream() }
  const usage = { input: 0, cached_input: 0, output: 1 + Math.floor(random() * 20_000), thinking: 0 }
  const end = happens(0.3) ? failRun(run) : { ...completeRun(run), usage }
  const given = end.type === 'FailRun' && happens(0.3) ? {} : worked()
  return [queue, start, ...(happens(0.5) ? [submit] : []), { ...end, ...given }]
}

/** Runs of several accounts in turns, over some months. */
const randomEvents = async (): Promise<RecordedEvent[]> => {
  const log = openLmdbEventLog(await temporaryFolder(t), () => undefined)
  t.teardown(() => log.close())
  const clock = new ManualClock()
  const accounts = accountsOn(log, clock)
  const execute = (account: number, command: AccountCommand) =>
    accounts.execute({ kind: 'operator', name: 'test' }, accountId(account), command)
  const lives = Array.from({ length: ACCOUNTS }, (_, index) => {
    const account = index + 1
    const runs = Array.from({ length: RUNS }, (_, run) => lifeOf(account * 1000 + run))
    return { account, commands: [openAccount({ account }), grantCredits(10_000), ...runs.flat()] }
  })
  const chargeOf = async (account: number, run: number): Promise<number> => {
    const stream = (await collect(log.readStream(accountStream(accountId(account)), 0))) as RecordedEvent[]
    const signs: Record<string, number> = { CreditsDebited: 1, CreditsReleased: -1 }
    return stream
      .map(({ type, data }) => ({ sign: signs[type] ?? 0, ...(data as { runId?: string; amountMicros: number }) }))
      .filter(move => move.sign !== 0 && move.runId === runId(run))
      .reduce((sum, { sign, amountMicros }) => sum + sign * amountMicros, 0)
  }
  /** Of what a run had used, what is left after its release. */
  const usesLeft = (uses: readonly LotUse[], chargedMicros: number) => {
    const usedMicros = uses.reduce((sum, { amountMicros }) => sum + amountMicros, 0)
    return usesWithout(uses, partGivenBack(uses, usedMicros - chargedMicros))
  }
  const refund = async (account: number, run: number, used: readonly LotUse[]) => {
    const { refunds } = await accounts.state(accountId(account))
    const chargedMicros = await chargeOf(account, run)
    const charges = { chargedMicros, refundedMicros: 0, amountMicros: Math.min(chargedMicros, toMicros(1)) }
    const uses = usesLeft(used, chargedMicros)
    await execute(account, {
      ...{ type: 'RefundRun', runId: runId(run), ...charges, uses, debit: debitFacts, refunds, reason: 'a gift' },
    })
  }
  for (let left = lives; left.length > 0; left = left.filter(({ commands }) => commands.length > 0)) {
    clock.advance(Math.floor(random() * 12 * 3600 * 1000))
    const { account, commands } = pick(left)
    const command = commands.shift()
    const { openRuns } = await accounts.state(accountId(account))
    const used = command?.type === 'CompleteRun' ? (openRuns.get(command.runId)?.uses ?? []) : []
    if (command) await execute(account, command)
    if (command?.type === 'CompleteRun' && happens(0.2)) await refund(account, Number(command.runId.slice(-6)), used)
  }
  return (await collect(log.readAll(BEFORE_FIRST))) as RecordedEvent[]
}

const events = await randomEvents()
const log = logOf(events)
const timeOf = (event: RecordedEvent) => event.metadata.at
const runOf = ({ data }: RecordedEvent) => (data as { runId?: string }).runId
const costs = events.filter(costOf)

/** The sums by month, family and provider, from all events of each run at a time. */
const naiveMargins = (isCounted: (at: string) => boolean) => {
  const rows = new Map<string, Record<string, bigint>>()
  const add = (name: string, at: string, what: string, amount: bigint) => {
    if (!isCounted(at)) return
    const key = `${at.slice(0, 7)} ${name}`
    const row = rows.get(key) ?? {}
    rows.set(key, { ...row, [what]: (row[what] ?? 0n) + amount })
  }
  for (const id of new Set(events.map(runOf))) {
    const own = events.filter(event => runOf(event) === id)
    const tried = own.filter(({ type }) => type === 'RunStarted' || type === 'RunSubmitted').at(-1)
    const end = own.find(({ type }) => type === 'RunCompleted' || type === 'RunFailed')
    if (!tried || !end) continue
    const { upstream = (tried.data as Tried).upstream } = end.data as Partial<Tried>
    for (const event of own) {
      const name = `${familyOf(own)} ${upstream.provider}`
      const at = timeOf(event)
      if (event === end) add(name, at, 'runs', 1n)
      if (event === end && event.type === 'RunFailed') add(name, at, 'failed', 1n)
      if (event.type === 'CreditsDebited') add(name, timeOf(end), 'charged', BigInt(event.data.amountMicros))
      if (event.type === 'CreditsReleased') add(name, at, 'charged', -BigInt(event.data.amountMicros))
      if (event.type === 'CreditsRefunded') add(name, at, 'refunded', BigInt(event.data.amountMicros))
      const cost = costOf(event)
      if (!cost) continue
      const { currency = 'unknown', amountMicros = 1 } = cost
      add(name, at, currency, BigInt(amountMicros))
    }
  }
  return rows
}
const familyOf = (own: RecordedEvent[]): string | undefined =>
  own.flatMap(event => (event.type === 'CreditsDebited' ? [event.data.receipt.model] : []))[0]
type Tried = { upstream: { provider: string } }

t.test('margins are the sums of the events, in any period', async t => {
  t.ok(costs.length > RUNS)
  t.ok(events.some(({ type }) => type === 'CreditsReleased'))
  const days = ['2026-01-01', '2026-02-10', '2026-03-01T12:00:00.000Z', undefined]
  for (const from of days)
    for (const to of days) {
      const expected = naiveMargins(at => at >= (from ?? '') && (to === undefined || at < to))
      const found = await margins(log, { from, to })
      t.same(
        found.map(({ month, family, provider }) => `${month} ${family} ${provider}`),
        [...expected.keys()].sort(),
      )
      for (const { month, family, provider, ...row } of found) {
        const { charged = 0n, refunded = 0n, ...naive } = expected.get(`${month} ${family} ${provider}`) ?? {}
        t.same([row.chargedMicros, row.refundedMicros], [charged, refunded])
        t.same([BigInt(row.runs), BigInt(row.failed)], [naive['runs'] ?? 0n, naive['failed'] ?? 0n])
        t.same([BigInt(row.unknownCosts), row.costs.get('USD') ?? 0n], [naive['unknown'] ?? 0n, naive['USD'] ?? 0n])
        t.equal(row.costs.get('EUR') ?? 0n, naive['EUR'] ?? 0n)
        // A credit of these receipts is a dollar.
        t.equal(row.earnedUsdPicos / 1_000_000n, charged - refunded)
      }
    }
})

t.test('the statement of each provider has each cost, with its job and outcome', async t => {
  for (const provider of PROVIDERS) {
    const lines = await collect(providerStatement(log, { provider }))
    const expected = costs.filter(event => costOf(event)?.provider === provider)
    t.equal(lines.length, expected.length)
    for (const [index, line] of lines.entries()) {
      const cost = expected[index] as RecordedEvent
      const own = events.filter(event => runOf(event) === line.runId)
      const submitted = own.find(({ type }) => type === 'RunSubmitted')
      t.match(line, { ...costOf(cost), at: timeOf(cost) })
      t.equal(line.outcome, own.some(({ type }) => type === 'RunFailed') ? 'failed' : 'completed')
      t.equal(line.jobId, submitted && (submitted.data as { jobId: string }).jobId)
    }
  }
})

t.test('the trial balance and both books have the same costs', async t => {
  const { costs: sums } = await trialBalance(log)
  t.ok(sums.length > PROVIDERS.length)
  const expected = sums.flatMap(({ provider, currency, amountMicros }): [string, bigint][] => [
    [`Expenses ${provider} ${currency}`, amountMicros],
    [`Liabilities ${provider} ${currency}`, -amountMicros],
  ])
  for (const format of ['hledger', 'beancount'] as const) {
    const books = new Map<string, bigint>()
    for (const [, side, name = '', amount = '', currency] of (await exported(events, format)).matchAll(POSTING)) {
      const key = `${side} ${name.toLowerCase()} ${currency}`
      books.set(key, (books.get(key) ?? 0n) + BigInt(amount.replace('.', '')))
    }
    t.same(new Map([...books].sort()), new Map(expected.sort()), format)
  }
})
const POSTING = /^ +(Expenses|Liabilities):Providers:(\w+) +(-?\d+\.\d{6}) ([A-Z]{3})\b/gm
