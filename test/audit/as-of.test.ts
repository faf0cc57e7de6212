import t from 'tap'
import { hadHappened, parseAsOf, parseTime } from '../../src/audit/as-of.ts'

t.test('a moment is a time, a revision or a position', async t => {
  t.same(parseAsOf('12'), { revision: 12 })
  t.same(parseAsOf('0'), { revision: 0 })
  t.same(parseAsOf('position:345'), { position: 345 })
  t.same(parseAsOf('2026-11-23'), { at: '2026-11-23T00:00:00.000Z' }, 'a date is the start of the day in UTC')
  t.same(parseAsOf('2026-11-23T10:00Z'), { at: '2026-11-23T10:00:00.000Z' })
  t.same(parseAsOf('2026-11-23T10:00:05.1Z'), { at: '2026-11-23T10:00:05.100Z' })
  t.same(parseAsOf('2026-11-23T00:30:00+01:00'), { at: '2026-11-22T23:30:00.000Z' })
  t.same(parseAsOf('2024-02-29'), { at: '2024-02-29T00:00:00.000Z' })
})

t.test('any other text is no moment', async t => {
  const words = ['', 'yesterday', '-1', '1.5', 'position:', 'position:-1', 'revision:3', '1234567890123456']
  const places = ['2026-11-23T10:00:00', '2026-11-23 10:00Z', '2026-11', '20261123T10Z', ' 12', '12\n']
  const impossible = ['2026-02-30', '2026-13-01', '2026-11-23T25:00Z', '2026-11-23T10:60Z', '2026-11-23T10:00+25:00']
  for (const text of [...words, ...places, ...impossible]) t.equal(parseAsOf(text), undefined, text)
})

t.test('a day that its month does not have is no time, also with an hour', async t => {
  t.equal(parseTime('2026-02-31T10:00:00Z'), undefined)
  t.equal(parseTime('2026-04-31T23:00:00-02:00'), undefined)
  t.equal(parseTime('2025-02-29T10:00Z'), undefined)
  t.equal(parseTime('2026-12-31T23:30:00-01:00'), '2027-01-01T00:30:00.000Z')
})

t.test('a time that the log cannot write is no time, since times are compared as text', async t => {
  t.equal(parseTime('9999-12-31T23:30:00-01:00'), undefined)
  t.equal(parseTime('0000-01-01T00:30:00+01:00'), undefined)
})

t.test('a moment includes the event that happened at it', async t => {
  const event = { id: '', stream: '', type: '', data: {}, revision: 3, position: 40 }
  const at = '2026-11-23T10:00:00.000Z'
  const had = (text: string) => hadHappened({ ...event, metadata: { at } }, parseAsOf(text) as never)
  t.same([had('2'), had('3'), had('4')], [false, true, true])
  t.same([had('position:39'), had('position:40')], [false, true])
  t.same([had('2026-11-23T09:59:59.999Z'), had('2026-11-23T10:00Z'), had('2026-11-23')], [false, true, false])
})
