import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { Shares } from '../../src/flow/shares.ts'

const MINUTE_MS = 60_000

const sharesAt60 = () => {
  let nowMs = 1_000_000
  const shares = new Shares({ clock: { ...systemClock, monotonicMs: () => nowMs }, perMinute: 60 })
  /** Takes all that the name may have now. */
  const takeAll = (name: string) => {
    let taken = 0
    while (shares.take([name])) taken++
    return taken
  }
  return {
    ...{ shares, takeAll },
    advance: (ms: number) => {
      nowMs += ms
    },
  }
}

const names = (count: number, kind = 'flood') => Array.from({ length: count }, (_, index) => `${kind} ${index}`)

t.test('the share of a name shrinks as others come', async t => {
  const { takeAll } = sharesAt60()
  t.equal(takeAll('first'), 29)
  t.equal(takeAll('second'), 28)
  for (const name of names(50)) takeAll(name)
  t.equal(takeAll('late'), 2)
})

t.test('four hundred names that take all they can leave room for those that have had nothing', async t => {
  const { shares, advance } = sharesAt60()
  const flood = names(400)
  const floodOnce = () => flood.filter(name => shares.take([name])).length
  for (let minute = 0; minute < 30; minute++) {
    let admitted = 0
    for (let second = 0; second < 60; second++) {
      floodOnce()
      if (second < 10 && shares.take([`new ${minute} ${second}`])) admitted++
      advance(1000)
    }
    t.ok(admitted >= 9, `${admitted} of 10 get in after ${minute} min`)
  }
})

t.test('all names together get ten minutes of work at once, and then what a minute allows', async t => {
  const { shares, advance } = sharesAt60()
  const takenBy = (kind: string) => names(1000, kind).filter(name => shares.take([name])).length
  t.equal(takenBy('first'), 600)
  advance(MINUTE_MS)
  t.equal(takenBy('second'), 60)
  advance(60 * MINUTE_MS)
  t.equal(takenBy('third'), 600, 'an idle hour allows no more')
})

t.test('work counts against its name for ten minutes', async t => {
  const { takeAll, advance } = sharesAt60()
  const taken = takeAll('a')
  advance(10 * MINUTE_MS - 1)
  t.ok(takeAll('a') <= 1, 'only what the full room adds to its share')
  advance(1)
  t.ok(takeAll('a') >= taken - 1)
})

t.test('a group of any number of names leaves room for those outside it', async t => {
  const { shares, advance } = sharesAt60()
  const flood = names(2000)
  let outside = 0
  let inside = 0
  for (let minute = 0; minute < 30; minute++) {
    inside += flood.filter(name => shares.take([name, 'provider'])).length
    for (let guest = 0; guest < 40; guest++) if (shares.take([`new ${minute} ${guest}`, `other ${guest}`])) outside++
    advance(MINUTE_MS)
  }
  t.equal(outside, 30 * 40)
  t.ok(inside > 300, `the group has its share: ${inside}`)
})
