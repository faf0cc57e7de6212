import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { reportRefused } from '../../src/boot/server.ts'
import { silentLogger } from '../support/engine.ts'

t.test('refused connections are logged with their number, at most once a minute', t => {
  let nowMs = 5
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const numbers: unknown[] = []
  const warn = ({ refused }: { refused?: number }) => void numbers.push(refused)
  const report = reportRefused({ clock, logger: { ...silentLogger, warn } })
  for (let count = 0; count < 5; count++) report()
  t.same(numbers, [1])
  nowMs += 59_999
  report()
  t.same(numbers, [1])
  nowMs += 1
  report()
  t.same(numbers, [1, 6])
  t.end()
})
