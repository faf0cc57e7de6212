import t from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { totalOf } from '../../../src/audit/books.ts'
import type { Split } from '../../../src/audit/lots.ts'
import type { Statement } from '../../../src/audit/statement/statement.ts'
import { accountId } from '../../support/account-samples.ts'
import { busyLog } from '../../support/busy-log.ts'
import { ledgerEvents } from '../../support/ledger-events.ts'
import { linked } from '../../support/linked.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { statementOf, statementOrFault, year } from '../../support/statements.ts'

const events = await busyLog(t, { SEAL_EVENTS: '40' })
const accounts = [...new Set(events.map(({ stream }) => stream))]
  .filter(stream => stream.startsWith('account-'))
  .map(stream => stream.slice('account-'.length))
const timeOf = ({ metadata }: RawEvent) => (metadata as { at: string }).at
const dataOf = ({ data }: RawEvent) => data as { amountMicros: number; balanceAfterMicros: number; kind?: string }

/** What a statement must say, by looking at every event of the account. */
const naively = (account: string, from: string, to: string) => {
  const moves = events.filter(({ stream, type }) => stream === `account-${account}` && type.startsWith('Credits'))
  const balanceBefore = (end: string) =>
    moves
      .filter(move => timeOf(move) < end)
      .map(dataOf)
      .at(-1)
  const lines = moves.filter(move => timeOf(move) >= from && timeOf(move) < to)
  const sum = (type: string) =>
    lines.filter(line => line.type === type).reduce((total, line) => total + dataOf(line).amountMicros, 0)
  return {
    opening: balanceBefore(from)?.balanceAfterMicros ?? 0,
    closing: balanceBefore(to)?.balanceAfterMicros ?? 0,
    lines: lines.map(({ id }) => id),
    sums: ['CreditsGranted', 'CreditsWithdrawn', 'CreditsDebited', 'CreditsRefunded', 'CreditsReleased'].map(sum),
  }
}

const found = ({ opening, closing, lines, totals }: Statement) => {
  const granted = [...totals.granted.values()].reduce((sum, split) => sum + totalOf(split), 0)
  return {
    opening: totalOf(opening),
    closing: totalOf(closing),
    lines: lines.map(({ eventId }) => eventId),
    sums: [granted, ...[totals.withdrawn, totals.charged, totals.refunded, totals.released].map(totalOf)],
  }
}

const plus = (one: Split, other: Split): Split => ({
  freeMicros: one.freeMicros + other.freeMicros,
  paidMicros: one.paidMicros + other.paidMicros,
})

t.test('a statement of any period is what the events of the period say, and adds up', async t => {
  const random = seededRandom(11)
  const times = [...new Set(events.map(timeOf))].toSorted()
  const boundOf = () => times[Math.floor(random() * times.length)] as string
  const differing: unknown[] = []
  let lines = 0
  for (let round = 0; round < 150; round++) {
    const account = accounts[Math.floor(random() * accounts.length)] as string
    const [from, to] = [boundOf(), boundOf()].toSorted() as [string, string]
    const statement = await statementOf(events, { account, period: { from, to, zone: 'UTC' } })
    const [is, expected] = [found(statement), naively(account, from, to)]
    if (JSON.stringify(is) !== JSON.stringify(expected)) differing.push({ account, from, to, is, expected })
    const sum = statement.lines.map(({ change }) => change).reduce(plus, statement.opening)
    if (JSON.stringify(sum) !== JSON.stringify(statement.closing)) differing.push({ account, from, to, sum })
    lines += statement.lines.length
  }
  t.same(differing.slice(0, 1), [])
  t.ok(lines > 100, `${lines} lines`)
})

t.test('the statements of neighbouring periods continue each other', async t => {
  const [account = ''] = accounts
  const times = [...new Set(events.map(timeOf))].toSorted()
  const [first, middle, last] = [times[0], times[Math.floor(times.length / 2)], year.to] as [string, string, string]
  const one = await statementOf(events, { account, period: { from: first, to: middle, zone: 'UTC' } })
  const other = await statementOf(events, { account, period: { from: middle, to: last, zone: 'UTC' } })
  const whole = await statementOf(events, { account, period: { from: first, to: last, zone: 'UTC' } })
  t.same(one.closing, other.opening)
  t.same([...one.lines, ...other.lines], whole.lines)
})

t.test('the newest seal is named, with the events and lines that it does not cover', async t => {
  const seals = events.filter(({ type }) => type === 'LogSealed')
  const newest = seals.at(-1) as RawEvent
  const { number, events: covered } = newest.data as { number: number; events: number }
  const others = events.filter(({ stream }) => stream !== 'seals')
  const sealed = new Set(others.slice(0, covered).map(({ id }) => id))
  for (const account of accounts) {
    const { seal, unsealed, lines } = await statementOf(events, { account })
    t.match(seal, { number, link: (newest.metadata as { hash: string }).hash, events: covered })
    t.equal(unsealed, others.length - covered)
    t.ok(lines.every(({ isSealed, eventId }) => isSealed === sealed.has(eventId)))
  }
  const moved = events.map(event => ({ ...event, position: 3 * event.position + 7 }))
  const [account = ''] = accounts
  t.equal((await statementOf(moved, { account })).unsealed, others.length - covered, 'also where positions differ')
  const without = await statementOf(others, { account })
  t.same([without.seal, without.unsealed], [undefined, others.length])
})

t.test('a line is sealed if the seal covers its event, also if it is the last one', async t => {
  const { events: moves, grant } = ledgerEvents()
  for (const reference of ['one', 'two']) grant({ reference })
  const [opened, one, two] = linked(moves) as [RawEvent, RawEvent, RawEvent]
  const sealed = events.find(({ type }) => type === 'LogSealed') as RawEvent
  const seal = { ...sealed, data: { ...(sealed.data as object), events: 2 } }
  const { lines, unsealed } = await statementOf([opened, one, two, seal])
  t.same([lines.map(({ isSealed }) => isSealed), unsealed], [[true, false], 1])
})

t.test('a log without the account has no statement of it', async t => {
  t.equal(await statementOrFault(events, { account: accountId(9) }), undefined)
})

t.test('a period before or after everything has two equal balances', async t => {
  const { events: moves, grant } = ledgerEvents()
  grant({ micros: 5 })
  const of = (from: string, to: string) => statementOf(linked(moves), { period: { from, to, zone: 'UTC' } })
  t.match(await of('2020-01-01T00:00:00.000Z', '2021-01-01T00:00:00.000Z'), {
    ...{ opening: { freeMicros: 0 }, closing: { freeMicros: 0 }, lines: [], account: { email: 'eve@example.com' } },
  })
  t.match(await of('2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z'), {
    ...{ opening: { freeMicros: 5 }, closing: { freeMicros: 5 }, lines: [] },
  })
})

t.test('the beginning of a period belongs to it, and the end does not', async t => {
  const { events: moves, grant } = ledgerEvents()
  const times = ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z']
  for (const [index, at] of times.entries()) grant({ micros: 1, at, reference: `r${index}` })
  const period = { from: times[1] as string, to: times[2] as string, zone: 'UTC' }
  const { opening, lines, closing } = await statementOf(linked(moves), { period })
  t.same([opening.freeMicros, lines.map(({ at }) => at), closing.freeMicros], [1, [times[1]], 2])
})

t.test('a time that went back, as in format 1, counts as that of the event before it', async t => {
  const { events: moves, grant } = ledgerEvents()
  const times = ['2026-01-01T10:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z']
  for (const [index, at] of times.entries()) grant({ micros: 1, at, reference: `r${index}` })
  const log = linked(moves, { format: 1 })
  const february = { from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z', zone: 'UTC' }
  const march = { from: february.to, to: '2026-04-01T00:00:00.000Z', zone: 'UTC' }
  t.match(await statementOf(log, { period: february }), { lines: [], closing: { freeMicros: 1 } })
  const { opening, lines, closing } = await statementOf(log, { period: march })
  t.same([opening.freeMicros, lines.map(({ at }) => at), closing.freeMicros], [1, times.slice(1), 3])
})

t.test('no statement is made of an account that is at fault, also outside the period', async t => {
  const { events: moves, grant, debit } = ledgerEvents()
  grant()
  debit()
  const log = linked(moves)
  const changed = (index: number, change: object) =>
    log.map((event, at) => (at === index ? { ...event, data: { ...(event.data as object), ...change } } : event))
  const period = { from: '2025-01-01T00:00:00.000Z', to: '2025-02-01T00:00:00.000Z', zone: 'UTC' }
  for (const [name, damaged, fault] of [
    ['a changed reason', changed(1, { reason: 'other' }), /revision 1: its link does not match what was written$/],
    ['a missing event', log.filter((_, index) => index !== 1), /revision 2: revision 1 is missing$/],
    ['a missing opening', log.slice(1), /revision 1: revision 0 is missing$/],
    ['no amount', changed(2, { amountMicros: 'x' }), /revision 2: its link does not match/],
    [
      'forged balances',
      linked(changed(1, { balanceAfterMicros: 7 }).slice(1)),
      /the balance at revision 1 does not add/,
    ],
    ['forged amounts', linked(changed(2, { amountMicros: 2e9 }).slice(1)), /revision 2: more credits are used/],
  ] as const) {
    t.match(await statementOrFault(damaged), { fault }, name)
    t.match(await statementOrFault(damaged, { period }), { fault }, name)
  }
})

t.test('no statement is made of a log that lost events before a seal, or whose seal cannot be read', async t => {
  // More are lost than come while a seal is made.
  const [busiest, account = ''] = accounts
  const lost = events.filter(({ stream }) => stream !== `account-${busiest}`)
  t.match(await statementOrFault(lost, { account }), { fault: /seals, revision \d+: seal \d+ covers \d+ events, and/ })
  const broken = events.map(event => (event.type === 'LogSealed' ? { ...event, data: {} } : event))
  t.match(await statementOrFault(broken, { account }), { fault: /^seals holds an unreadable LogSealed/ })
})
