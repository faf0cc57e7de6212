import t from 'tap'
import { AppendQueue } from '../../../../src/adapters/event-log/eventstoredb/append-queue.ts'

t.test('appends to one stream run one after another, also after a failure, and those to others at once', async t => {
  const queue = new AppendQueue<string>()
  const began: string[] = []
  const ends = new Map<string, { succeed: (answer: string) => void; fail: (error: Error) => void }>()
  const add = (stream: string, name: string) =>
    queue.add(stream, 1, () => {
      began.push(name)
      return new Promise((succeed, fail) => ends.set(name, { succeed, fail }))
    })
  const [first, second, third] = [add('a', 'first'), add('a', 'second'), add('a', 'third')]
  const other = add('b', 'other')
  t.same(began, ['first', 'other'])
  ends.get('first')?.fail(new Error('refused'))
  await t.rejects(first, { message: 'refused' })
  t.same(began, ['first', 'other', 'second'])
  ends.get('second')?.succeed('written')
  t.equal(await second, 'written')
  t.same(began, ['first', 'other', 'second', 'third'])
  for (const name of ['third', 'other']) ends.get(name)?.succeed('written')
  await queue.settled()
  t.same(await Promise.all([third, other]), ['written', 'written'])
})
