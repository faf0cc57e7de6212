import t from 'tap'
import { Slots } from '../../../src/services/seals/slots.ts'

t.test('so many pieces of work are done at a time, the others in their order, also after a failure', async t => {
  const slots = new Slots(2)
  const started: number[] = []
  const ends: ((isRight: boolean) => void)[] = []
  const works = Array.from({ length: 5 }, (_, index) =>
    slots.run(
      () =>
        new Promise<number>((resolve, reject) => {
          started.push(index)
          ends[index] = isRight => (isRight ? resolve(index) : reject(new Error('broken')))
        }),
    ),
  )
  const settled = Promise.allSettled(works)
  t.same(started, [0, 1])
  ends[1]?.(false)
  await t.rejects(works[1] as Promise<number>, { message: 'broken' })
  await new Promise(setImmediate)
  t.same(started, [0, 1, 2])
  for (const index of [0, 2]) ends[index]?.(true)
  await new Promise(setImmediate)
  t.same(started, [0, 1, 2, 3, 4])
  for (const index of [3, 4]) ends[index]?.(true)
  t.same(
    (await settled).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  )
  t.equal(await slots.run(async () => 'later'), 'later')
})
