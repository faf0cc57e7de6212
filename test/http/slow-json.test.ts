import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { slowJson } from '../../src/http/answers/slow-json.ts'
import type { RequestState } from '../../src/http/context.ts'
import type { Clock } from '../../src/ports/clock.ts'

/** A clock on which every wait is over at once. */
const hasty: Clock = { ...systemClock, timer: (_, callback) => systemClock.timer(0, callback) }

const serve = async (t: Test, clock: Clock, make: () => Promise<object>): Promise<string> => {
  const app = new Koa<RequestState>()
  app.on('error', () => undefined)
  app.use(ctx => slowJson(ctx, clock, make()))
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const later = <Value>(settle: () => Value): Promise<Value> =>
  new Promise((resolve, reject) =>
    setTimeout(() => {
      try {
        resolve(settle())
      } catch (error) {
        reject(error)
      }
    }, 50),
  )

const fail = (): object => {
  throw new Error('it failed')
}

t.test('what is made soon is JSON alone', async t => {
  const url = await serve(t, systemClock, async () => ({ made: 1 }))
  t.equal(await (await fetch(url)).text(), '{"made":1}')
})

t.test('what takes long is JSON after white space', async t => {
  const answer = await fetch(await serve(t, hasty, () => later(() => ({ made: 1 }))))
  t.match(answer.headers.get('Content-Type'), 'application/json')
  const text = await answer.text()
  t.match(text, /^ +\{"made":1\}$/)
  t.same(JSON.parse(text), { made: 1 })
})

t.test('what fails soon is an error, and what fails later cuts the connection', async t => {
  const soon = await fetch(await serve(t, systemClock, async () => fail()))
  t.equal(soon.status, 500)
  const late = await fetch(await serve(t, hasty, () => later(fail)))
  t.equal(late.status, 200)
  await t.rejects(late.text())
})
