import t from 'tap'
import { ResponseMemory } from '../../../src/adapters/outbound/response-memory.ts'

const open = (room: ResponseMemory, name: string, resumed: string[]) => room.open(() => resumed.push(name))

t.test('while there is no room, only the oldest answer grows, and the others wait', t => {
  const room = new ResponseMemory(100)
  const resumed: string[] = []
  const [first, second, third] = ['first', 'second', 'third'].map(name => open(room, name, resumed))
  t.ok(first?.grow(50))
  t.notOk(second?.grow(50))
  t.notOk(third?.grow(10))
  t.ok(first?.grow(500))
  t.same(resumed, [])
  first?.close()
  t.same(resumed, ['second', 'third'])
  t.ok(second?.grow(500))
  t.notOk(third?.grow(1))
  second?.close()
  t.same(resumed, ['second', 'third', 'third'])
  t.ok(third?.grow(500))
  t.end()
})

t.test('an answer that nobody waits for any more makes room, once', t => {
  const room = new ResponseMemory(100)
  const resumed: string[] = []
  const [first, second, third] = ['first', 'second', 'third'].map(name => open(room, name, resumed))
  first?.grow(60)
  t.notOk(second?.grow(40))
  second?.close()
  second?.close()
  t.same(resumed, ['first', 'third'])
  t.ok(third?.grow(39))
  t.notOk(third?.grow(1))
  t.end()
})
