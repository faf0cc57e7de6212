import t, { type Test } from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { openEventStoreLog } from '../../../src/adapters/event-log/eventstoredb.ts'
import { openLog } from '../../support/engine.ts'
import { startEventStoreServer } from '../../support/event-store/server.ts'
import { clockAt, openPeriodWorld, operator } from '../../support/period-world.ts'
import { eventStoreAt } from '../../support/store-addresses.ts'
import { unwrap } from '../../support/unwrap.ts'

/** A log whose first account was opened in October, and has nothing in November. */
const openWorld = async (t: Test) => {
  const world = await openPeriodWorld(t)
  const account = await world.open(clockAt('10-20T12:00'), 'eve')
  return { ...world, account }
}

const typesOf = (events: RawEvent[]) => events.map(({ type, data }) => `${type} ${(data as { period: string }).period}`)

t.test('a month is closed with a seal of everything so far, which is made at once', async t => {
  const { log, all, own, startSealer, periodsAt } = await openWorld(t)
  const clock = clockAt('11-02T12:00')
  startSealer(clock)
  const closed = unwrap(await periodsAt(clock).close(operator, '2026-10'))
  const events = await all()
  const asked = events.filter(({ stream }) => stream !== 'seals').findIndex(({ type }) => type.startsWith('Period')) + 1
  const seal = events.find(({ type }) => type === 'LogSealed') as RawEvent
  const { number, events: covered } = seal.data as { number: number; events: number }
  t.equal(covered, asked, 'the seal covers the request and all before it')
  const { hash: link } = seal.metadata as { hash: string }
  t.match(closed, { period: '2026-10', from: '2026-10', seal: { number, link, events: covered } })
  t.same(typesOf(await own()), ['PeriodCloseRequested 2026-10', 'PeriodClosed 2026-10'])
  t.match(await log.readEvent('periods', 1), { metadata: { actor: operator }, data: { seal: { number, link } } })
  t.same(unwrap(await periodsAt(clock).list(operator)), [closed])
})

t.test('a month that is closed, not over or before the log is refused', async t => {
  const { own, startSealer, periodsAt } = await openWorld(t)
  const clock = clockAt('11-30T23:59')
  const periods = periodsAt(clock)
  startSealer(clock)
  const { seal } = unwrap(await periods.close(operator, '2026-10'))
  const before = await own()
  const closedWith = { closedWith: '2026-10', seal: seal.number }
  for (const [period, refuse] of [
    ['2026-10', { code: 'period_closed', period: '2026-10', ...closedWith }],
    ['2026-11', { code: 'period_not_over', period: '2026-11', now: '2026-11-30T23:59:00.000Z' }],
    ['2026-09', { code: 'period_before_log', first: '2026-10' }],
    ['9999-12', { code: 'period_not_over' }],
  ] as const)
    t.match(await periods.close(operator, period), { refuse }, period)
  t.same(await own(), before, 'nothing is recorded')
  clock.advance(60_000)
  t.match(await periods.close(operator, '2026-11'), { value: { from: '2026-11' } })
})

t.test('an empty log has nothing to close', async t => {
  const { periodsAt, own } = await openPeriodWorld(t)
  t.match(await periodsAt(clockAt('11-02T12:00')).close(operator, '2026-10'), { refuse: { code: 'period_before_log' } })
  t.same(await own(), [])
})

t.test('the open months before it are closed together with a month', async t => {
  const { startSealer, periodsAt } = await openWorld(t)
  const clock = clockAt('12-02T12:00')
  startSealer(clock)
  const periods = periodsAt(clock)
  t.match(await periods.close(operator, '2026-11'), { value: { from: '2026-10', period: '2026-11' } })
  t.match(await periods.close(operator, '2026-10'), { refuse: { code: 'period_closed', closedWith: '2026-11' } })
  clock.advance(62 * 86_400_000)
  t.match(await periods.close(operator, '2027-01'), { value: { from: '2026-12', period: '2027-01' } })
  t.match(unwrap(await periods.list(operator)), [{ from: '2026-10' }, { from: '2026-12', period: '2027-01' }])
})

t.test('without a seal nothing is closed, and the next attempt goes on with the same request', async t => {
  const { own, startSealer, periodsAt } = await openWorld(t)
  const clock = clockAt('11-02T12:00')
  for (let attempt = 0; attempt < 2; attempt++)
    t.match(await periodsAt(clock, 0).close(operator, '2026-10'), { refuse: { code: 'period_not_sealed' } })
  t.same(typesOf(await own()), ['PeriodCloseRequested 2026-10'])
  // The process that asked may be gone when the seal is made.
  const sealer = startSealer(clock)
  const periods = periodsAt(clock)
  t.match(await periods.close(operator, '2026-10'), { value: { period: '2026-10' } })
  await sealer.stop()
  t.same(typesOf(await own()), ['PeriodCloseRequested 2026-10', 'PeriodClosed 2026-10'])
})

t.test('a month is not closed before its end by the clock of the process that seals', async t => {
  const { own, startSealer, periodsAt } = await openWorld(t)
  const [ahead, right] = [clockAt('11-01T00:05'), clockAt('10-31T23:00')]
  startSealer(right)
  t.match(await periodsAt(ahead).close(operator, '2026-10'), {
    refuse: { code: 'period_not_over', now: '2026-10-31T23:00:00.000Z' },
  })
  right.advance(3_600_000)
  t.match(await periodsAt(ahead).close(operator, '2026-10'), { value: { period: '2026-10' } })
  t.equal((await own()).length, 3, 'the second attempt asks for another seal')
})

t.test('a month is closed on EventStoreDB, too', async t => {
  const server = await startEventStoreServer({ log: await openLog(t) })
  t.teardown(() => server.close())
  const log = openEventStoreLog({ address: eventStoreAt(server.url) })
  t.teardown(() => log.close())
  const { open, own, startSealer, periodsAt } = await openPeriodWorld(t, log)
  await open(clockAt('10-20T12:00'), 'eve')
  const clock = clockAt('11-02T12:00')
  const sealer = startSealer(clock)
  const closed = unwrap(await periodsAt(clock).close(operator, '2026-10'))
  t.same(unwrap(await periodsAt(clock).list(operator)), [closed])
  t.same(typesOf(await own()), ['PeriodCloseRequested 2026-10', 'PeriodClosed 2026-10'])
  await sealer.stop()
})

t.test('of several processes that close a month at once, one succeeds', async t => {
  const { own, startSealer, periodsAt } = await openWorld(t)
  const clock = clockAt('11-02T12:00')
  startSealer(clock)
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => periodsAt(clock).close(operator, '2026-10')))
  t.equal(outcomes.filter(outcome => 'value' in outcome).length, 1)
  t.ok(outcomes.every(outcome => 'value' in outcome || outcome.refuse.code === 'period_closed'))
  t.equal((await own()).filter(({ type }) => type === 'PeriodClosed').length, 1)
})
