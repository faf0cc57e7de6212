import t from 'tap'
import type { RawEvent } from '../../schemas/recorded.ts'
import { type Part, type TrialBalance, trialBalance } from '../../src/audit/trial-balance.ts'
import { busyLog } from '../support/busy-log.ts'
import { logOf } from '../support/log-of.ts'
import { startWithCosts } from '../support/vendor-log.ts'

const events = await busyLog(t)
const GRANTED = new Set(['courtesy', 'purchase', 'welcome'])
const zero = { freeMicros: 0n, paidMicros: 0n }

/** The microcredits of a part, free and paid together. */
const partOf = ({ lines }: TrialBalance, part: Part): bigint =>
  lines
    .filter(line => line.part === part)
    .reduce((sum, { credits }) => sum + credits.freeMicros + credits.paidMicros, 0n)

/** The sum of the amounts in all events of a type. */
const amountOf = (log: RawEvent[], type: string): bigint =>
  log
    .filter(event => event.type === type)
    .reduce((sum, { data }) => sum + BigInt((data as { amountMicros: number }).amountMicros), 0n)

/** The sum of the last balances of all accounts. */
const owedIn = (log: RawEvent[]): bigint => {
  const balances = new Map<string, number>()
  for (const { stream, data } of log) {
    const { balanceAfterMicros } = data as { balanceAfterMicros?: number }
    if (balanceAfterMicros !== undefined) balances.set(stream, balanceAfterMicros)
  }
  return [...balances.values()].reduce((sum, balance) => sum + BigInt(balance), 0n)
}

t.test('the parts are those of the log, and add up to zero', async t => {
  const balance = await trialBalance(logOf(events))
  t.same(balance.sum, zero)
  t.equal(partOf(balance, 'granted'), -amountOf(events, 'CreditsGranted'))
  t.equal(partOf(balance, 'withdrawn'), amountOf(events, 'CreditsWithdrawn'))
  t.equal(partOf(balance, 'earned'), amountOf(events, 'CreditsDebited'))
  t.equal(partOf(balance, 'refunded'), -amountOf(events, 'CreditsRefunded'))
  t.equal(partOf(balance, 'released'), -amountOf(events, 'CreditsReleased'))
  t.ok(partOf(balance, 'released') < 0n)
  t.equal(partOf(balance, 'in flight'), 0n)
  t.equal(partOf(balance, 'owed to customers'), owedIn(events))
  t.equal(partOf(balance, 'expired'), amountOf(events, 'CreditsExpired'))
  t.ok(partOf(balance, 'expired') > 0n)
  t.same(new Set(balance.lines.filter(({ part }) => part === 'granted').map(({ name }) => name)), GRANTED)
})

t.test('at each position the parts add up to zero, and the credits of open runs are in flight', async t => {
  let inFlight = 0n
  for (const [position] of events.entries()) {
    const balance = await trialBalance(logOf(events), { asOf: { position } })
    const before = events.slice(0, position + 1)
    t.same(balance.sum, zero)
    t.equal(partOf(balance, 'owed to customers'), owedIn(before))
    const held = partOf(balance, 'in flight')
    t.equal(partOf(balance, 'earned') + held, amountOf(before, 'CreditsDebited'))
    if (held > inFlight) inFlight = held
  }
  t.ok(inFlight > 0n)
})

t.test('as of a time, later events do not count', async t => {
  const { at } = (events[40] as RawEvent).metadata as { at: string }
  const balance = await trialBalance(logOf(events), { asOf: { at } })
  const before = events.filter(({ metadata }) => (metadata as { at: string }).at <= at)
  t.ok(before.length < events.length)
  t.equal(partOf(balance, 'owed to customers'), owedIn(before))
  t.match(balance, { newestAt: at, sum: zero })
})

t.test('what providers charge stands beside the credits, by currency', async t => {
  const { events: read } = await startWithCosts(t)
  const balance = await trialBalance(logOf(await read()))
  t.same(balance.costs, [{ provider: 'vendor', currency: 'USD', amountMicros: 8_123_456n }])
  t.equal(balance.unknownCosts, 1)
  t.same(balance.sum, zero)
  t.match(await trialBalance(logOf(events)), { costs: [], unknownCosts: 0 })
})
