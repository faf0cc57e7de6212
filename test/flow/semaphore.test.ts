import t from 'tap'
import type { AccountId } from '../../schemas/primitives.ts'
import { type Reserved, Semaphore } from '../../src/flow/semaphore.ts'
import { accountId } from '../support/account-samples.ts'

const [ada, bob, cy] = [accountId(1), accountId(2), accountId(3)]
const { signal } = new AbortController()

/** How many slots an account gets. */
const takeAll = (slots: Semaphore, name: string, account = ada) => {
  let taken = 0
  while (slots.tryAcquire(name, account)) taken += 1
  return taken
}

t.test('an account may hold as many slots of a name as are left free', async t => {
  const slots = new Semaphore({ each: 12 })
  t.equal(takeAll(slots, 'a', ada), 6)
  t.equal(takeAll(slots, 'a', bob), 3)
  t.equal(takeAll(slots, 'a', cy), 2)
  t.equal(takeAll(slots, 'b', ada), 6, 'another name has its own slots')
  slots.release('a', cy)
  slots.release('a', cy)
  t.equal(takeAll(slots, 'a', ada), 0, 'the share of an account shrinks while others hold slots')
  t.equal(takeAll(slots, 'a', bob), 0)
  for (let freed = 0; freed < 3; freed++) slots.release('a', bob)
  slots.release('a', ada)
  t.equal(takeAll(slots, 'a', ada), 1)
})

t.test('a single slot can be taken', async t => {
  t.equal(takeAll(new Semaphore({ each: 1 }), 'a'), 1)
})

t.test('an account may hold as many slots in all as are left free', async t => {
  const slots = new Semaphore({ each: 4, total: 8 })
  t.same([takeAll(slots, 'a'), takeAll(slots, 'b'), takeAll(slots, 'c')], [2, 2, 0])
  t.equal(takeAll(slots, 'c', bob), 2)
})

t.test('a waiter gets the first slot that is free for its account', async t => {
  const slots = new Semaphore({ each: 4 })
  takeAll(slots, 'a', ada)
  const entered: string[] = []
  const waiting = [
    slots.acquire('a', ada, signal).then(() => entered.push('ada')),
    slots.acquire('a', bob, signal).then(() => entered.push('bob')),
  ]
  await waiting[1]
  t.same(entered, ['bob'], 'another account is not kept waiting')
  slots.release('a', ada)
  await waiting[0]
  t.same(entered, ['bob', 'ada'])
  t.notOk(slots.tryAcquire('a', ada))
})

t.test('accounts that wait are admitted in turn', async t => {
  const slots = new Semaphore({ each: 1 })
  slots.tryAcquire('a', ada)
  const entered: string[] = []
  const wait = (account: AccountId, name: string) =>
    slots.acquire('a', account, signal).then(() => {
      entered.push(name)
      slots.release('a', account)
    })
  const waiting = [...['ada', 'ada', 'ada'].map(name => wait(ada, name)), wait(bob, 'bob'), wait(cy, 'cy')]
  waiting.push(wait(bob, 'bob'))
  slots.release('a', ada)
  await Promise.all(waiting)
  t.same(entered, ['ada', 'bob', 'cy', 'ada', 'bob', 'ada'])
})

t.test('an account whose name has no room does not lose its turn for another name', async t => {
  const slots = new Semaphore({ each: 1, total: 8 })
  slots.tryAcquire('a', cy)
  slots.tryAcquire('b', cy)
  const entered: string[] = []
  const wait = (name: string) => slots.acquire(name, ada, signal).then(() => entered.push(name))
  const waiting = [wait('a'), wait('b')]
  slots.release('b', cy)
  await waiting[1]
  t.same(entered, ['b'])
  slots.release('a', cy)
  await waiting[0]
})

t.test('a waiter that gives up takes no slot', async t => {
  const slots = new Semaphore({ each: 1 })
  const stop = new AbortController()
  await t.rejects(slots.acquire('a', ada, AbortSignal.abort()), { name: 'AbortError' })
  slots.tryAcquire('a', ada)
  const waiting = slots.acquire('a', ada, stop.signal)
  stop.abort()
  await t.rejects(waiting, { name: 'AbortError' })
  slots.release('a', ada)
  t.ok(slots.tryAcquire('a', ada))
})

t.test('a slow name gets fewer slots until it is quick again', async t => {
  const slots = new Semaphore({ each: 8 })
  slots.adapt('a', true)
  slots.adapt('a', true)
  t.equal(takeAll(slots, 'b'), 4, 'other names keep theirs')
  t.equal(takeAll(slots, 'a'), 1)
  slots.release('a', ada)
  for (let slow = 0; slow < 10; slow++) slots.adapt('a', true)
  t.equal(takeAll(slots, 'a'), 1, 'one slot is left')
  for (let quick = 0; quick < 3; quick++) slots.adapt('a', false)
  t.equal(takeAll(slots, 'a'), 3)
})

t.test('a name that one account has made slow has a slot for each other account', async t => {
  const slots = new Semaphore({ each: 8, total: 8 })
  for (let slow = 0; slow < 10; slow++) slots.adapt('a', true)
  t.same([takeAll(slots, 'a', ada), takeAll(slots, 'a', bob), takeAll(slots, 'a', cy)], [1, 1, 1])
  slots.release('a', bob)
  t.equal(takeAll(slots, 'a', ada), 0)
  t.equal(takeAll(slots, 'a', bob), 1)
})

t.test('the slots of a slow name do not exceed its full limit', async t => {
  const slots = new Semaphore({ each: 2 })
  for (let slow = 0; slow < 10; slow++) slots.adapt('a', true)
  t.same([takeAll(slots, 'a', ada), takeAll(slots, 'a', bob), takeAll(slots, 'a', cy)], [1, 1, 0])
})

t.test('a slot that was not taken cannot be freed', async t => {
  const slots = new Semaphore({ each: 2 })
  t.throws(() => slots.release('a', ada), RangeError)
  slots.tryAcquire('a', ada)
  t.throws(() => slots.release('a', bob), RangeError)
  slots.release('a', ada)
  t.throws(() => slots.release('a', ada), RangeError)
})

/** A room of 100 bytes, and what entered it. */
const open = () => {
  const room = new Semaphore({ each: 100 })
  const entered: string[] = []
  const reserve = async (name: string, account: typeof ada, sizeBytes: number, until = signal): Promise<Reserved> => {
    const reserved = await room.reserve('', account, sizeBytes, until)
    entered.push(name)
    return reserved
  }
  return { reserve, entered }
}

const someTurns = () => new Promise(setImmediate)

t.test('an account takes as much as it leaves free', async t => {
  const { reserve, entered } = open()
  const first = await reserve('a1', ada, 50)
  const second = reserve('a2', ada, 25)
  await reserve('b1', bob, 50)
  t.same(entered, ['a1', 'b1'])
  first.release()
  await second
  t.same(entered, ['a1', 'b1', 'a2'])
})

t.test('a file larger than the room is admitted alone', async t => {
  const { reserve, entered } = open()
  const small = await reserve('small', ada, 1)
  const huge = reserve('huge', bob, 1_000)
  await someTurns()
  t.same(entered, ['small'])
  small.release()
  const held = await huge
  const next = reserve('next', ada, 1)
  await someTurns()
  t.same(entered, ['small', 'huge'])
  held.release()
  await next
})

t.test('small files of others do not overtake a large one for cyr', async t => {
  const { reserve, entered } = open()
  const first = await reserve('a1', ada, 40)
  const large = reserve('large', bob, 80)
  const others = [reserve('e1', cy, 10), reserve('a2', ada, 10)]
  await someTurns()
  t.same(entered, ['a1'])
  first.release()
  await Promise.all([large, ...others])
  t.same(entered, ['a1', 'large', 'e1', 'a2'])
})

t.test('an account that has its share does not hold up the others', async t => {
  const { reserve, entered } = open()
  await reserve('a1', ada, 50)
  void reserve('a2', ada, 50)
  await reserve('b1', bob, 10)
  t.same(entered, ['a1', 'b1'])
})

t.test('what a file does not need is free again, once', async t => {
  const { reserve, entered } = open()
  const first = await reserve('a1', ada, 100)
  const second = reserve('b1', bob, 90)
  first.shrink(10)
  first.shrink(50)
  await second
  const third = reserve('e1', cy, 10)
  await someTurns()
  t.same(entered, ['a1', 'b1'])
  first.release()
  first.release()
  await third
})

t.test('one who stops waiting lets the next one in', async t => {
  const { reserve, entered } = open()
  await reserve('a1', ada, 40)
  const leaving = new AbortController()
  const large = reserve('large', bob, 80, leaving.signal)
  const small = reserve('e1', cy, 10)
  leaving.abort(new RangeError('cancelled'))
  await t.rejects(large, RangeError)
  await small
  await t.rejects(reserve('late', cy, 1, AbortSignal.abort()), { name: 'AbortError' })
  t.same(entered, ['a1', 'e1'])
})

t.test('without room for others, one owner may hold all', async t => {
  const places = new Semaphore({ each: 3, leavesRoom: false })
  t.equal(takeAll(places, ''), 3)
  const entered: string[] = []
  const waiting = [bob, ada, bob].map(owner => places.run('', owner, async () => entered.push(owner)))
  places.release('', ada)
  await Promise.all(waiting)
  t.same(entered, [bob, ada, bob])
})

t.test('an owner whose share of all names is used up does not close a name to others', async t => {
  const slots = new Semaphore({ each: 4, total: 4 })
  t.equal(takeAll(slots, 'a'), 2)
  void slots.acquire('b', ada, signal)
  await slots.acquire('b', bob, signal)
  t.equal(slots.held('b'), 1)
})
