import t from 'tap'
import { ResponseMemory } from '../../../src/adapters/outbound/response-memory.ts'

const isDone = async (promise: Promise<void>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>(resolve => setImmediate(() => resolve(false)))])

t.test('while there is no memory, only the oldest answer grows, and the others wait', async t => {
  const memory = new ResponseMemory(100)
  const [first, second, third] = [memory.open(), memory.open(), memory.open()]
  await first.grow(50, null)
  await second.grow(50, null)
  const [secondGrows, thirdGrows] = [second.grow(10, null), third.grow(10, null)]
  t.notOk(await isDone(secondGrows))
  t.notOk(await isDone(thirdGrows))
  await first.grow(500, null)
  first.close()
  t.ok(await isDone(secondGrows))
  t.ok(await isDone(thirdGrows))
  await second.grow(500, null)
  const waits = third.grow(1, null)
  t.notOk(await isDone(waits))
  second.close()
  t.ok(await isDone(waits))
})

t.test('an answer that nobody waits for any more makes memory', async t => {
  const memory = new ResponseMemory(100)
  const [first, second, third] = [memory.open(), memory.open(), memory.open()]
  await first.grow(90, null)
  const stop = new AbortController()
  const given = second.grow(20, stop.signal)
  const waits = third.grow(20, null)
  stop.abort(new Error('too late'))
  await t.rejects(given, { message: 'too late' })
  await t.rejects(second.grow(20, stop.signal), { message: 'too late' })
  second.close()
  t.notOk(await isDone(waits))
  first.close()
  t.ok(await isDone(waits))
})
