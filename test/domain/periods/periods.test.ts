import t from 'tap'
import { endMsOf, nextPeriod, periods } from '../../../src/domain/periods/periods.ts'

const seal = (number: number, events: number) => ({ number, link: String(number).repeat(64), events })
const at = '2027-01-01T00:00:00.000Z'
const closed = (period: string, number: number, events: number) => ({
  ...({ type: 'PeriodClosed', data: { period, seal: seal(number, events) } } as const),
  ...{ revision: 0, metadata: { at } },
})

t.test('a month is closed once, also as one before a closed month', async t => {
  const state = periods.evolve(periods.initial, closed('2026-11', 1, 100))
  for (const period of ['2026-09', '2026-11'])
    for (const command of [{ type: 'RequestClose' }, { type: 'Close', seal: seal(2, 200) }] as const)
      t.match(periods.decide({ ...command, period }, state, Date.parse(at)), {
        refuse: { code: 'period_closed', period, closedWith: '2026-11', seal: 1 },
      })
  t.match(periods.decide({ type: 'Close', period: '2026-12', seal: seal(2, 200) }, state, Date.parse(at)), {
    accept: [{}],
  })
})

t.test('a month is not closed with an earlier seal than the one before it', async t => {
  const state = periods.evolve(periods.initial, closed('2026-10', 3, 300))
  const close = (events: number) =>
    periods.decide({ type: 'Close', period: '2026-11', seal: seal(2, events) }, state, Date.parse(at))
  t.match(close(299), { refuse: { code: 'period_seal_outdated' } })
  t.match(close(300), { accept: [{ type: 'PeriodClosed' }] })
})

t.test('months end where the next ones begin', async t => {
  t.equal(endMsOf('2026-11'), Date.parse('2026-12-01T00:00:00.000Z'))
  t.equal(endMsOf('2028-02'), Date.parse('2028-03-01T00:00:00.000Z'))
  t.same(['2026-11', '2026-12', '0009-12'].map(nextPeriod), ['2026-12', '2027-01', '0010-01'])
})
