import t from 'tap'
import { Slots } from '../../src/reactors/slots.ts'

t.test('slots are bounded by name', async t => {
  const slots = new Slots({ each: 2 })
  t.same([slots.take('a'), slots.take('a'), slots.take('a')], [true, true, false])
  t.ok(slots.take('b'), 'another name has its own slots')
  t.equal(slots.free('a'), 1)
  t.ok(slots.take('a'))
})

t.test('slots are bounded in total', async t => {
  const slots = new Slots({ each: 2, total: 3 })
  t.same([slots.take('a'), slots.take('a'), slots.take('b'), slots.take('c')], [true, true, true, false])
  slots.free('b')
  t.ok(slots.take('c'))
})

t.test('a slot that was not taken cannot be freed', async t => {
  const slots = new Slots({ each: 1 })
  t.throws(() => slots.free('a'), RangeError)
  slots.take('a')
  slots.free('a')
  t.throws(() => slots.free('a'), RangeError)
})
