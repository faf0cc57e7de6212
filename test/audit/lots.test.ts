import fc from 'fast-check'
import t from 'tap'
import { Lots, type Use } from '../../src/audit/lots.ts'
import { Damaged } from '../../src/ports/faults.ts'

const free = (lots: Lots, amountMicros: number) => lots.grant({ kind: 'courtesy', amountMicros })
const paid = (lots: Lots, amountMicros: number) => lots.grant({ kind: 'purchase', amountMicros })

const takePurchase = (lots: Lots, amountMicros: number) => lots.withdraw({ kind: 'purchase', amountMicros })

const shown = (uses: Use[]) => uses.map(({ lot, amountMicros }) => [lot.number, amountMicros])

t.test('debits use up free credits before paid ones', async t => {
  const lots = new Lots()
  paid(lots, 10)
  free(lots, 5)
  lots.use(3)
  t.same(lots.left, { freeMicros: 2, paidMicros: 10 })
  lots.use(4)
  t.same(lots.left, { freeMicros: 0, paidMicros: 8 })
  t.throws(() => lots.use(9), Damaged)
})

t.test('a refund gives back first what was used last', async t => {
  const lots = new Lots()
  free(lots, 5)
  paid(lots, 10)
  const uses = lots.use(8)
  t.same(shown(lots.giveBack(uses, 2)), [[2, 2]])
  t.same(shown(lots.giveBack(uses, 3)), [
    [2, 1],
    [1, 2],
  ])
  t.same(lots.left, { freeMicros: 2, paidMicros: 10 })
  t.throws(() => lots.giveBack(uses, 4), Damaged)
})

t.test('a withdrawal of a purchase uses up paid credits first, the newest before the others', async t => {
  const lots = new Lots()
  free(lots, 5)
  paid(lots, 10)
  const older = lots.use(7)
  paid(lots, 20)
  takePurchase(lots, 15)
  t.same(lots.left, { freeMicros: 0, paidMicros: 13 })
  lots.giveBack(older, 7)
  takePurchase(lots, 16)
  t.same(lots.left, { freeMicros: 4, paidMicros: 0 })
})

t.test('what returns to a lot that has ended ends with it, also by a clock that is behind', t => {
  const lots = new Lots()
  lots.grant({ kind: 'purchase', amountMicros: 10, expiresAt: '2026-01-02T00:00:00.000Z' })
  const uses = lots.use(4)
  t.throws(() => lots.expire({ lot: 1, amountMicros: 6 }, '2026-01-01T23:59:59.999Z'), Damaged)
  lots.expire({ lot: 1, amountMicros: 6 }, '2026-01-02T00:00:00.000Z')
  lots.giveBack(uses, 4)
  lots.expire({ lot: 1, amountMicros: 4 }, '2026-01-01T23:59:59.000Z')
  t.same(lots.left, { freeMicros: 0, paidMicros: 0 })
  t.end()
})

t.test('the credits that are left are those that were granted and not used', async () => {
  const step = fc.record({ kind: fc.constantFrom('free', 'paid', 'use', 'usePaid', 'giveBack'), amount: fc.nat(50) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const lots = new Lots()
      const used: Use[][] = []
      let left = 0
      for (const { kind, amount } of steps) {
        if (kind === 'free' || kind === 'paid') {
          ;(kind === 'paid' ? paid : free)(lots, amount)
          left += amount
        } else if (kind === 'giveBack') {
          const uses = used.at(amount % Math.max(1, used.length)) ?? []
          const most = uses.reduce((sum, { amountMicros }) => sum + amountMicros, 0)
          lots.giveBack(uses, Math.min(amount, most))
          left += Math.min(amount, most)
        } else if (amount <= left) {
          used.push(kind === 'use' ? lots.use(amount) : takePurchase(lots, amount))
          left -= amount
        }
        const { freeMicros, paidMicros } = lots.left
        if (freeMicros < 0 || paidMicros < 0 || freeMicros + paidMicros !== left) return false
      }
      return true
    }),
  )
})
