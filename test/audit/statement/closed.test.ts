import t, { type Test } from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { Statement } from '../../../src/audit/statement/statement.ts'
import { statementToCsv } from '../../../src/cli/audit/statement/csv.ts'
import { statementToHtml } from '../../../src/cli/audit/statement/html.ts'
import { statementToJson } from '../../../src/cli/audit/statement/json.ts'
import { statementToPdf } from '../../../src/cli/audit/statement/pdf.ts'
import { statementToText } from '../../../src/cli/audit/statement/text.ts'
import { ourBrand } from '../../support/brands.ts'
import { clockAt, openPeriodWorld, operator } from '../../support/period-world.ts'
import { joined, statementOf, statementOrFault } from '../../support/statements.ts'
import { unwrap } from '../../support/unwrap.ts'

const month = (from: string, to: string, zone = 'UTC') => ({
  period: { from: `${from}-01T00:00:00.000Z`, to: `${to}-01T00:00:00.000Z`, zone },
})
const november = month('2026-11', '2026-12')
const december = month('2026-12', '2027-01')

/** A statement in each format. */
const filesOf = async (statement: Statement): Promise<Record<string, string>> => {
  const pdf: Uint8Array[] = []
  for await (const piece of statementToPdf(statement, ourBrand)) pdf.push(piece)
  return {
    text: joined(statementToText(statement)),
    csv: joined(statementToCsv(statement)),
    json: joined(statementToJson(statement)),
    html: joined(statementToHtml(statement, ourBrand)),
    pdf: Buffer.concat(pdf).toString('latin1'),
  }
}

const isLate = ({ data }: RawEvent) => (data as { reference?: string }).reference === 'late'

/** Two accounts with a grant each in November, which was closed in December. */
const closedNovember = async (t: Test) => {
  const world = await openPeriodWorld(t)
  const [eve, bob] = [await world.open(clockAt('11-02T12:00'), 'eve'), await world.open(clockAt('11-02T12:00'), 'bob')]
  for (const account of [eve, bob]) await world.grant(clockAt('11-20T12:00'), account, 'november', 10)
  const clock = clockAt('12-02T12:00')
  world.startSealer(clock)
  const closed = unwrap(await world.periodsAt(clock).close(operator, '2026-11'))
  return { ...world, eve, bob, clock, closed }
}

t.test('the report of a closed month is the same ever after, in every format', async t => {
  const { all, grant, eve, bob, clock, periodsAt, closed } = await closedNovember(t)
  const first = await all()
  const filesBy = async (events: RawEvent[]) => [
    await filesOf(await statementOf(events, { account: eve, ...november })),
    await filesOf(await statementOf(events, { account: bob, ...november })),
  ]
  const before = await filesBy(first)
  for (const files of before) {
    for (const format of ['text', 'html', 'json']) t.match(files[format], closed.sealName, `${format} names the seal`)
    t.match(files['text'], /^report +of closed months$/m)
    t.match(files['text'], '2026-11 was closed at 2026-12-02T12:00:00.000Z by Ada with seal')
  }

  // The clock of the process that writes it is behind.
  await grant(clockAt('11-30T23:00'), bob, 'late', 5)
  await grant(clock, eve, 'december', 7)
  t.same(await filesBy(await all()), before, 'after late arrivals')
  clock.advance(40 * 86_400_000)
  unwrap(await periodsAt(clock).close(operator, '2026-12'))
  await grant(clock, eve, 'january', 7)
  const last = await all()
  t.same(await filesBy(last), before, 'after the next month was closed')
  const copied = last.map(event => ({ ...event, position: 5 * event.position + 3 }))
  t.same(await filesBy(copied), before, 'in a copy with other positions')
  const [late, seal] = [last.find(isLate), last.find(({ type }) => type === 'LogSealed')] as [RawEvent, RawEvent]
  const between = last.flatMap(event =>
    event === seal ? [{ ...late, data: {} }, seal] : event === late ? [] : [event],
  )
  const moved = between.map((event, position) => ({ ...event, position }))
  t.same(await filesBy(moved), before, 'where the first of them came while the seal was made, and is damaged')
  const damaged = last.map(event =>
    event.type === 'CreditsGranted' && event.position >= first.length ? { ...event, data: {} } : event,
  )
  t.notSame(damaged, last)
  t.same(await filesBy(damaged), before, 'where something later is damaged')
})

t.test('what came late is listed in the next month, with a mark', async t => {
  const { all, grant, bob, clock, periodsAt } = await closedNovember(t)
  await grant(clockAt('11-30T23:00'), bob, 'late', 5)
  await grant(clock, bob, 'december', 7)
  const check = async (what: string) => {
    const { opening, lines, closing } = await statementOf(await all(), { account: bob, ...december })
    t.same([opening.freeMicros, closing.freeMicros], [11_000_000, 23_000_000], what)
    t.same(
      lines.map(({ at, reference, bookedIn }) => [at.slice(0, 10), reference, bookedIn]),
      [
        ['2026-11-30', 'late', '2026-12'],
        ['2026-12-02', 'december', undefined],
      ],
      what,
    )
  }
  await check('while the month is open')
  clock.advance(40 * 86_400_000)
  unwrap(await periodsAt(clock).close(operator, '2026-12'))
  await check('when it is closed')
  const statement = await statementOf(await all(), { account: bob, ...december })
  t.match(statement, { closed: { month: '2026-12' }, isCut: false, unsealed: 0 })
  const { text, csv, json } = await filesOf(statement)
  t.match(text, /time of 2026-11, booked in\s+2026-12/)
  t.match(text, 'One line has a time of a closed month, but came after its seal')
  t.match(csv, /,yes,,2026-12,,\r\n/)
  t.match(JSON.parse(json as string), {
    closed: { first_month: '2026-12', last_month: '2026-12', closed_by: 'Ada' },
    read_to: { position: null },
    lines: [{ position: null, booked_in: '2026-12' }, { booked_in: null }],
  })
  const both = await statementOf(await all(), { account: bob, ...month('2026-11', '2027-01') })
  t.match(both.closed, { month: '2026-12' })
  t.same(
    both.lines.map(({ bookedIn }) => bookedIn),
    [undefined, undefined, '2026-12', undefined],
  )
})

t.test('a period that begins or ends within a closed month goes by times, and says so', async t => {
  const { all, grant, bob } = await closedNovember(t)
  await grant(clockAt('11-30T23:00'), bob, 'late', 5)
  for (const [from, to] of [
    ['2026-11-15T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    ['2026-11-01T00:00:00.000Z', '2026-11-30T23:30:00.000Z'],
    ['2026-10-31T23:00:00.000Z', '2026-11-30T23:30:00.000Z'],
  ] as const) {
    const statement = await statementOf(await all(), { account: bob, period: { from, to, zone: 'UTC' } })
    t.match(statement, { closed: undefined, isCut: true })
    t.equal(statement.lines.at(-1)?.reference, 'late')
    t.match((await filesOf(statement))['text'], 'so this is not the report of that month')
  }
  const open = { period: { from: '2026-12-01T00:00:00.000Z', to: '2026-12-10T00:00:00.000Z', zone: 'UTC' } }
  const { isCut, closed, lines } = await statementOf(await all(), { account: bob, ...open })
  t.same([isCut, closed, lines.map(({ reference }) => reference)], [false, undefined, ['late']])
})

t.test('a month before the first closed one is closed, too', async t => {
  const { all, grant, bob, closed } = await closedNovember(t)
  await grant(clockAt('11-30T23:00'), bob, 'late', 5)
  const october = await statementOf(await all(), { account: bob, ...month('2026-10', '2026-11') })
  t.match(october, { closed: { month: '2026-11' }, lines: [], closing: { freeMicros: 0 }, seal: closed.seal })
})

t.test('times are shown in another zone, where the months are those of UTC', async t => {
  const { all, bob, closed } = await closedNovember(t)
  const statement = await statementOf(await all(), { account: bob, ...month('2026-11', '2026-12', 'Asia/Tokyo') })
  t.match(statement, { closed: { month: '2026-11' }, seal: closed.seal })
  t.match((await filesOf(statement))['text'], '2026-11-01 09:00:00 +09:00')
})

t.test('the report has only the accounts that its seal covers', async t => {
  const { all, open } = await closedNovember(t)
  const late = await open(clockAt('11-30T23:00'), 'late')
  t.equal(await statementOrFault(await all(), { account: late, ...november }), undefined)
  const { lines } = await statementOf(await all(), { account: late, ...december })
  t.match(lines, [{ grantKind: 'welcome', bookedIn: '2026-12' }])
})

t.test('a closing that was changed, or whose seal is another one, gives no statement', async t => {
  const { all, bob } = await closedNovember(t)
  const events = await all()
  const changed = (type: string, change: (event: RawEvent) => object) =>
    events.map(event => (event.type === type ? { ...event, ...change(event) } : event))
  const ofSeal = (event: RawEvent, seal: object) => ({ data: { ...(event.data as object), ...seal } })
  for (const [what, log, fault] of [
    [
      'another number of events',
      changed('PeriodClosed', event => ofSeal(event, { seal: { number: 1, link: 'a'.repeat(64), events: 1 } })),
      /^periods, revision 1: its link does not match/,
    ],
    [
      'another seal',
      changed('LogSealed', event => ofSeal(event, { events: 3 })),
      /seal 1 is not the seal with which 2026-11/,
    ],
    [
      'no seal',
      events.filter(({ type }) => type !== 'LogSealed'),
      /does not hold seal 1, with which 2026-11 was closed/,
    ],
  ] as const)
    t.match(await statementOrFault(log, { account: bob, ...november }), { fault }, what)
})

t.test('the months of an account follow each other, whatever comes late', async t => {
  const { all, grant, eve, bob, clock, periodsAt } = await closedNovember(t)
  for (const [index, day] of ['11-25', '11-30', '12-05', '12-31', '12-31'].entries()) {
    await grant(clockAt(`${day}T12:00`), index % 2 ? eve : bob, `late ${index}`)
    if (index === 2)
      unwrap(
        await periodsAt(clock)
          .close(operator, '2026-11')
          .then(() => ({ value: undefined })),
      )
    if (index !== 3) continue
    clock.advance(40 * 86_400_000)
    unwrap(await periodsAt(clock).close(operator, '2026-12'))
  }
  const events = await all()
  for (const account of [eve, bob]) {
    const months = ['2026-10', '2026-11', '2026-12', '2027-01', '2027-02']
    const statements = []
    for (const [index, from] of months.slice(0, -1).entries())
      statements.push(await statementOf(events, { account, ...month(from, months[index + 1] as string) }))
    const whole = await statementOf(events, { account, ...month('2026-10', '2027-02') })
    t.same(
      statements.flatMap(({ lines }) => lines.map(({ eventId }) => eventId)),
      whole.lines.map(({ eventId }) => eventId),
    )
    for (const [index, { opening }] of statements.entries())
      t.same(opening, statements[index - 1]?.closing ?? whole.opening)
    t.same(statements.at(-1)?.closing, whole.closing)
  }
})
