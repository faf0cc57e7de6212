import t from 'tap'
import { ByteRoom, type Reserved } from '../../src/flow/byte-room.ts'
import { accountId } from '../support/account-samples.ts'

const [ada, bob, eve] = [accountId(1), accountId(2), accountId(3)]
const { signal } = new AbortController()

/** A room of 100 bytes, and what entered it. */
const open = () => {
  const room = new ByteRoom(100)
  const entered: string[] = []
  const reserve = async (name: string, account: typeof ada, sizeBytes: number, until = signal): Promise<Reserved> => {
    const reserved = await room.reserve(account, sizeBytes, until)
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
  first.free()
  await second
  t.same(entered, ['a1', 'b1', 'a2'])
})

t.test('a file larger than the room is admitted alone', async t => {
  const { reserve, entered } = open()
  const small = await reserve('small', ada, 1)
  const huge = reserve('huge', bob, 1_000)
  await someTurns()
  t.same(entered, ['small'])
  small.free()
  const held = await huge
  const next = reserve('next', ada, 1)
  await someTurns()
  t.same(entered, ['small', 'huge'])
  held.free()
  await next
})

t.test('small files of others do not overtake a large one for ever', async t => {
  const { reserve, entered } = open()
  const first = await reserve('a1', ada, 40)
  const large = reserve('large', bob, 80)
  const others = [reserve('e1', eve, 10), reserve('a2', ada, 10)]
  await someTurns()
  t.same(entered, ['a1'])
  first.free()
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
  const third = reserve('e1', eve, 10)
  await someTurns()
  t.same(entered, ['a1', 'b1'])
  first.free()
  first.free()
  await third
})

t.test('one who stops waiting lets the next one in', async t => {
  const { reserve, entered } = open()
  await reserve('a1', ada, 40)
  const leaving = new AbortController()
  const large = reserve('large', bob, 80, leaving.signal)
  const small = reserve('e1', eve, 10)
  leaving.abort(new RangeError('cancelled'))
  await t.rejects(large, RangeError)
  await small
  await t.rejects(reserve('late', eve, 1, AbortSignal.abort()), { name: 'AbortError' })
  t.same(entered, ['a1', 'e1'])
})
