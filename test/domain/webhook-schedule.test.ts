import t from 'tap'
import { nextAttemptMs } from '../../src/domain/webhook-schedule.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const nowMs = Date.parse('2026-01-01T00:00:00.000Z')

const waitMs = (attempt: number, chance = 0, retryAfterMs?: number) =>
  (nextAttemptMs(attempt, nowMs, chance, retryAfterMs) ?? Number.NaN) - nowMs

t.test('there are ten attempts over three days and no eleventh', async t => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(attempt => waitMs(attempt))
  t.same(waits, [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map(hours => hours * HOUR)])
  t.equal(nextAttemptMs(10, nowMs, 0), undefined)
  t.equal(nextAttemptMs(10, nowMs, 0, HOUR), undefined)
})

t.test('jitter lengthens a wait by at most a tenth and never shortens it', async t => {
  t.equal(waitMs(1, 0.5), 5250)
  t.equal(waitMs(1, 1), 5500)
  t.equal(waitMs(9, 1), 26.4 * HOUR)
})

t.test('Retry-After can lengthen a wait up to a day but not shorten it', async t => {
  t.equal(waitMs(1, 0, 6 * SECOND), 6 * SECOND)
  t.equal(waitMs(1, 1, 5 * SECOND), 5500)
  t.equal(waitMs(2, 0, 6 * SECOND), 5 * MINUTE)
  t.equal(waitMs(1, 0, 24 * HOUR + 1), 24 * HOUR)
  t.equal(waitMs(1, 0, Number.POSITIVE_INFINITY), 24 * HOUR)
})

t.test('waits are whole milliseconds', async t => {
  t.ok(Number.isInteger(waitMs(1, 0.123456789)))
})
