import t from 'tap'
import { statement } from '../../projections/statement.ts'
import type { StatementRow } from '../../schemas/views.ts'

const line = (revision: number, at: string) => ({ revision, at }) as StatementRow

t.test('lines are ordered by revision, and by time in an index, where times may go back', async t => {
  const lines = [
    line(7, '2026-11-23T10:00:05.000Z'),
    line(10, '2026-11-23T10:00:03.000Z'),
    line(11, '2026-11-23T10:00:05.000Z'),
  ]
  const places = lines.map(row => statement.indexes['byTime']?.(row, `acct_1/${String(row.revision).padStart(9, '0')}`))
  t.same(places.toSorted(), [places[1], places[0], places[2]])
  t.equal(places[1], 'acct_1/2026-11-23T10:00:03.000Z/000000010')
})
