import t from 'tap'
import { ResponseMemory } from '../../../src/adapters/outbound/response-memory.ts'

const openAt = (memory: ResponseMemory, resumed: string[]) => (name: string) =>
  memory.open(name.split(' ')[0] ?? '', () => resumed.push(name))

t.test('a server that has used up its part reads only its oldest answer, and its others wait', t => {
  const resumed: string[] = []
  const open = openAt(new ResponseMemory(100), resumed)
  const [first, second, third] = [open('a first'), open('a second'), open('a third')]
  t.ok(first.hold(20))
  t.ok(second.hold(20))
  t.notOk(third.hold(10), 'another server must find as much as this one has')
  t.ok(first.hold(500))
  t.same(resumed, [])
  first.close()
  t.same(resumed, ['a second', 'a third'])
  t.ok(second.hold(500))
  t.notOk(third.hold(11))
  second.close()
  t.same(resumed, ['a second', 'a third', 'a third'])
  t.ok(third.hold(500))
  t.end()
})

t.test('a slow server delays no other', t => {
  const resumed: string[] = []
  const open = openAt(new ResponseMemory(100), resumed)
  const [slow, another] = [open('slow first'), open('slow second')]
  t.ok(slow.hold(30))
  t.notOk(another.hold(25))
  const [first, second] = [open('quick first'), open('quick second')]
  t.ok(first.hold(10))
  t.ok(second.hold(10))
  t.notOk(second.hold(20), 'a third server must find memory, too')
  t.ok(first.hold(1000))
  first.close()
  t.same(resumed, ['slow first', 'quick second'])
  t.end()
})

t.test('an answer that takes less memory makes room, and one that nobody waits for any more, once', t => {
  const resumed: string[] = []
  const open = openAt(new ResponseMemory(100), resumed)
  const [first, second, third] = [open('a first'), open('a second'), open('a third')]
  first.hold(40)
  t.notOk(second.hold(20))
  first.hold(10)
  t.same(resumed, ['a first', 'a second', 'a third'])
  t.notOk(third.hold(20))
  second.close()
  second.close()
  t.same(resumed.slice(3), ['a first', 'a third'])
  t.ok(third.hold(30))
  t.end()
})
