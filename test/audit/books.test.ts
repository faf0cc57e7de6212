import t from 'tap'
import type { RawEvent } from '../../schemas/recorded.ts'
import { Books, totalOf } from '../../src/audit/books.ts'
import { Damaged } from '../../src/ports/faults.ts'
import { busyLog } from '../support/busy-log.ts'
import { ledgerEvents, tokenReceipt } from '../support/ledger-events.ts'

const events = await busyLog(t)
const isMoney = /^Credits/

t.test('each movement of credits is a line, whose balance is that of the event', async t => {
  const books = new Books()
  const lines = events.flatMap(event => books.take(event) ?? [])
  const moves = events.filter(({ type }) => isMoney.test(type))
  t.equal(lines.length, moves.length)
  t.same(
    lines.map(({ eventId, balance }) => [eventId, totalOf(balance)]),
    moves.map(({ id, data }) => [id, (data as { balanceAfterMicros: number }).balanceAfterMicros]),
  )
  t.same(
    lines.map(({ change }) => Math.abs(totalOf(change))),
    moves.map(({ data }) => (data as { amountMicros: number }).amountMicros),
  )
  t.ok(lines.some(({ kind, change }) => kind === 'grant' && change.paidMicros > 0))
  t.ok(lines.every(({ kind, run }) => /debit|refund|release/.test(kind) === (run !== undefined)))
})

t.test('a run is open from its debit to its end', async t => {
  const books = new Books()
  const openRuns = () => [...books.accounts.values()].flatMap(book => [...book.openRuns()])
  const debit = events.findIndex(({ type }) => type === 'CreditsDebited')
  for (const event of events.slice(0, debit)) books.take(event)
  t.same(openRuns(), [])
  const line = books.take(events[debit] as RawEvent)
  t.match(openRuns(), [{ runId: line?.run?.runId, held: { freeMicros: -(line?.change.freeMicros ?? 0) } }])
  for (const event of events.slice(debit + 1)) books.take(event)
  t.same(openRuns(), [])
})

t.test('a release gives back first what its debit used last', async t => {
  const { events: moves, grant, reserve, release } = ledgerEvents()
  grant({ micros: 4_000_000 })
  grant({ micros: 8_000_000, kind: 'purchase' })
  reserve()
  release()
  const books = new Books()
  const lines = moves.map(event => books.take(event))
  const changes = lines.slice(2).map(line => [line?.kind, line?.change.freeMicros, line?.change.paidMicros])
  t.same(changes, [
    ['debit', -4_000_000, -6_000_000],
    ['release', 3_000_000, 6_000_000],
  ])
  t.same(lines[3]?.receipt, tokenReceipt(1000))
  t.equal(lines[3]?.run?.model, 'gpt-6-1-terra')
})

t.test('a balance that does not add up is not booked', async t => {
  const books = new Books()
  const grant = events.find(({ type }) => type === 'CreditsGranted') as RawEvent
  const forged = { ...grant, data: { ...(grant.data as object), amountMicros: 1 } }
  t.throws(() => books.take(forged), Damaged)
})
