import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { Pace } from '../../src/flow/pace.ts'

t.test('a name may do a burst at once, and then keep to the pace', async t => {
  let nowMs = 1_000_000
  const pace = new Pace({ clock: { ...systemClock, monotonicMs: () => nowMs }, burst: 3, perSecond: 2 })
  const doAll = (name = 'a') => {
    let done = 0
    for (; pace.allows(name); done++) pace.count(name)
    return done
  }
  t.equal(doAll(), 3)
  t.equal(doAll('b'), 3, 'another name has a pace of its own')
  nowMs += 499
  t.equal(doAll(), 0)
  nowMs += 1
  t.equal(doAll(), 1)
  nowMs += 1000
  t.equal(doAll(), 2)
  nowMs += 3_600_000
  t.equal(doAll(), 3, 'idle time allows no more than a burst')
})
