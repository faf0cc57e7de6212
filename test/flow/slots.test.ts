import t from 'tap'
import type { AccountId } from '../../schemas/primitives.ts'
import { Slots } from '../../src/flow/slots.ts'
import { accountId } from '../support/account-samples.ts'

const [ada, bob, cy] = [accountId(1), accountId(2), accountId(3)]

/** How many slots an account gets. */
const takeAll = (slots: Slots, name: string, account = ada) => {
  let taken = 0
  while (slots.take(name, account)) taken += 1
  return taken
}

t.test('an account may hold as many slots of a name as are left free', async t => {
  const slots = new Slots({ each: 12 })
  t.equal(takeAll(slots, 'a', ada), 6)
  t.equal(takeAll(slots, 'a', bob), 3)
  t.equal(takeAll(slots, 'a', cy), 2)
  t.equal(takeAll(slots, 'b', ada), 6, 'another name has its own slots')
  slots.free('a', cy)
  slots.free('a', cy)
  t.equal(takeAll(slots, 'a', ada), 0, 'the share of an account shrinks while others hold slots')
  t.equal(takeAll(slots, 'a', bob), 0)
  for (let freed = 0; freed < 3; freed++) slots.free('a', bob)
  slots.free('a', ada)
  t.equal(takeAll(slots, 'a', ada), 1)
})

t.test('a single slot can be taken', async t => {
  t.equal(takeAll(new Slots({ each: 1 }), 'a'), 1)
})

t.test('an account may hold as many slots in all as are left free', async t => {
  const slots = new Slots({ each: 4, total: 8 })
  t.same([takeAll(slots, 'a'), takeAll(slots, 'b'), takeAll(slots, 'c')], [2, 2, 0])
  t.equal(takeAll(slots, 'c', bob), 2)
})

t.test('a waiter gets the first slot that is free for its account', async t => {
  const slots = new Slots({ each: 4 })
  const { signal } = new AbortController()
  takeAll(slots, 'a', ada)
  const entered: string[] = []
  const waiting = [
    slots.acquire('a', ada, signal).then(() => entered.push('ada')),
    slots.acquire('a', bob, signal).then(() => entered.push('bob')),
  ]
  await waiting[1]
  t.same(entered, ['bob'], 'another account is not kept waiting')
  slots.free('a', ada)
  await waiting[0]
  t.same(entered, ['bob', 'ada'])
  t.notOk(slots.take('a', ada))
})

t.test('accounts that wait are admitted in turn', async t => {
  const slots = new Slots({ each: 1 })
  const { signal } = new AbortController()
  slots.take('a', ada)
  const entered: string[] = []
  const wait = (account: AccountId, name: string) =>
    slots.acquire('a', account, signal).then(() => {
      entered.push(name)
      slots.free('a', account)
    })
  const waiting = [...['ada', 'ada', 'ada'].map(name => wait(ada, name)), wait(bob, 'bob'), wait(cy, 'cy')]
  waiting.push(wait(bob, 'bob'))
  slots.free('a', ada)
  await Promise.all(waiting)
  t.same(entered, ['ada', 'bob', 'cy', 'ada', 'bob', 'ada'])
})

t.test('an account whose name has no room does not lose its turn for another name', async t => {
  const slots = new Slots({ each: 1, total: 8 })
  const { signal } = new AbortController()
  slots.take('a', cy)
  slots.take('b', cy)
  const entered: string[] = []
  const wait = (name: string) => slots.acquire(name, ada, signal).then(() => entered.push(name))
  const waiting = [wait('a'), wait('b')]
  slots.free('b', cy)
  await waiting[1]
  t.same(entered, ['b'])
  slots.free('a', cy)
  await waiting[0]
})

t.test('a waiter that gives up takes no slot', async t => {
  const slots = new Slots({ each: 1 })
  const stop = new AbortController()
  await t.rejects(slots.acquire('a', ada, AbortSignal.abort()), { name: 'AbortError' })
  slots.take('a', ada)
  const waiting = slots.acquire('a', ada, stop.signal)
  stop.abort()
  await t.rejects(waiting, { name: 'AbortError' })
  slots.free('a', ada)
  t.ok(slots.take('a', ada))
})

t.test('a slow name gets fewer slots until it is quick again', async t => {
  const slots = new Slots({ each: 8 })
  slots.adapt('a', true)
  slots.adapt('a', true)
  t.equal(takeAll(slots, 'b'), 4, 'other names keep theirs')
  t.equal(takeAll(slots, 'a'), 1)
  slots.free('a', ada)
  for (let slow = 0; slow < 10; slow++) slots.adapt('a', true)
  t.equal(takeAll(slots, 'a'), 1, 'one slot is left')
  for (let quick = 0; quick < 3; quick++) slots.adapt('a', false)
  t.equal(takeAll(slots, 'a'), 3)
})

t.test('a name that one account has made slow has a slot for each other account', async t => {
  const slots = new Slots({ each: 8, total: 8 })
  for (let slow = 0; slow < 10; slow++) slots.adapt('a', true)
  t.same([takeAll(slots, 'a', ada), takeAll(slots, 'a', bob), takeAll(slots, 'a', cy)], [1, 1, 1])
  slots.free('a', bob)
  t.equal(takeAll(slots, 'a', ada), 0)
  t.equal(takeAll(slots, 'a', bob), 1)
})

t.test('the slots of a slow name do not exceed its full limit', async t => {
  const slots = new Slots({ each: 2 })
  for (let slow = 0; slow < 10; slow++) slots.adapt('a', true)
  t.same([takeAll(slots, 'a', ada), takeAll(slots, 'a', bob), takeAll(slots, 'a', cy)], [1, 1, 0])
})

t.test('a slot that was not taken cannot be freed', async t => {
  const slots = new Slots({ each: 2 })
  t.throws(() => slots.free('a', ada), RangeError)
  slots.take('a', ada)
  t.throws(() => slots.free('a', bob), RangeError)
  slots.free('a', ada)
  t.throws(() => slots.free('a', ada), RangeError)
})
