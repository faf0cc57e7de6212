import t from 'tap'
import { fold } from '../../projections/define.ts'
import { lineKey, linesOfRun, statement } from '../../projections/statement.ts'
import type { StatementRow } from '../../schemas/views.ts'
import { accountId, debitFacts, keyId, RECORDED_AT, recorded, refunded, runId } from '../support/account-samples.ts'

const metadata = { at: RECORDED_AT, actor: { kind: 'reactor' }, hash: '' } as const

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

t.test('a refund has the model and label of the debit that it repeats, and an older one has none', async t => {
  const debit = { ...debitFacts, keyId: keyId(), label: 'spring campaign' }
  const event = { ...recorded(refunded(10, { after: 20, debit })), revision: 7, metadata }
  const { model, endpoint, label } = fold(statement, [event]) as StatementRow
  t.same({ model, endpoint, label }, { ...debitFacts, label: 'spring campaign' })
  const { debit: _, error: __, ...older } = event.data as Record<string, unknown>
  t.notMatch(fold(statement, [{ ...event, data: older } as never]), { model: String })
})

t.test('an index leads from a run to its lines, in their order', async t => {
  const event = { ...recorded(refunded(10, { after: 20 })), revision: 7, metadata }
  const row = fold(statement, [event]) as StatementRow
  const place = statement.indexes['byRun']?.(row, lineKey(accountId(), 7))
  t.equal(place, `${linesOfRun(accountId(), runId())}000000007`)
  t.equal(statement.indexes['byRun']?.(line(1, 'now'), lineKey(accountId(), 1)), undefined, 'a grant is of no run')
})
