import t from 'tap'
import type { Context } from '../../src/http/context.ts'
import { takeTurns } from '../../src/http/middleware/take-turns.ts'
import { Turns } from '../../src/http/turns.ts'

t.test('turns come in order, and other work is done between them', async t => {
  const turns = new Turns()
  const done: string[] = []
  const taken = Array.from({ length: 15 }, (_, at) => turns.next().then(() => done.push(`${at}`)))
  // Immediate callbacks run in order, so this one comes between the first two groups.
  setImmediate(() => done.push('other'))
  await Promise.all(taken)
  t.same(done, [...Array(10).keys(), 'other', ...[10, 11, 12, 13, 14]].map(String))
  await turns.next().then(() => done.push('later'))
  t.equal(done.at(-1), 'later')
})

t.test('connections that arrive go first, 100 of them before the next turn', async t => {
  const turns = new Turns()
  let deferrals = 0
  let isTaken = false
  const taken = turns.next().then(() => {
    isTaken = true
  })
  while (!isTaken) {
    turns.defer()
    deferrals++
    await new Promise(setImmediate)
  }
  await taken
  t.equal(deferrals, 1 + 100)
})

t.test('requests take turns, and health checks go first', async t => {
  const take = takeTurns(new Turns())
  const begun: string[] = []
  const request = (url: string) => take({ url } as Context, async () => void begun.push(url))
  const requests = Array.from({ length: 15 }, () => request('/v1/run'))
  const health = request('/healthz')
  t.same(begun, ['/healthz'])
  await health
  await new Promise(setImmediate)
  t.equal(begun.length, 1 + 10)
  await Promise.all(requests)
  t.equal(begun.length, 1 + 15)
})
