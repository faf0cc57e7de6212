import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { MAX_ARRIVING_BYTES, MAX_ARRIVING_BYTES_IN_ALL, MAX_BODY_BYTES } from '../../schemas/primitives.ts'
import { createLogger } from '../../src/adapters/logger/pino.ts'
import type { RequestState } from '../../src/http/context.ts'
import { arrivingBodies } from '../../src/http/middleware/arriving-bodies.ts'
import { errors } from '../../src/http/middleware/errors.ts'
import { jsonBody } from '../../src/http/middleware/json-body.ts'
import { picture } from '../support/client.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A connection that begins a request, and what it has received. */
const begin = (t: Test, port: number, path: string, headers: Record<string, string>, body = '') => {
  const lines = Object.entries({ Host: 'a', 'Content-Type': 'application/json', ...headers })
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(line => line.join(': ')).join('\r\n')}\r\n\r\n${body}`),
  )
  let received = ''
  socket.on('data', bytes => {
    received += bytes
  })
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  return { socket, received: () => received, isClosed: () => socket.closed }
}

t.test('the bodies that an account is sending are limited', async t => {
  const service = await startService(t)
  const [customer, other] = [await openAccount(service), await openAccount(service)]
  const path = '/v1/run?dry_run=true'
  const quote = (customer: Customer) => customer.post(path, picture)
  const largest = [
    [path, { 'Content-Length': `${MAX_BODY_BYTES}` }],
    [path, { 'Content-Length': '10', 'Content-Encoding': 'gzip' }],
    ['/mcp', { 'Transfer-Encoding': 'chunked' }],
  ] as const
  const sent = Array.from({ length: MAX_ARRIVING_BYTES / MAX_BODY_BYTES }, (_, at) => {
    const [path, size] = largest[at % 3] ?? largest[0]
    return begin(t, Number(new URL(service.url).port), path, { Authorization: `Bearer ${customer.apiKey}`, ...size })
  })
  await until('a refusal', async () => (await quote(customer)).status === 429)
  const { body, headers } = await quote(customer)
  t.equal(body.error.code, 'rate_limited')
  t.equal(headers.get('Retry-After'), '30')
  t.ok(sent.every(({ received }) => received() === ''))
  t.equal((await customer.send('/v1/balance')).status, 200, 'requests without a body')
  t.equal((await quote(other)).status, 200, 'other accounts')
  sent[0]?.socket.destroy()
  await until('room for another', async () => (await quote(customer)).status === 200)
  t.equal((await quote(customer)).status, 200, 'a body that has arrived counts no longer')
})

t.test('a body counts until it is parsed', async t => {
  let [waiting, isTurn] = [0, false]
  const app = new Koa<RequestState>()
    .use(async (ctx, next) => {
      ctx.state.caller = { accountId: 'acct_1' } as never
      ctx.state.nextTurn = async () => {
        waiting += 1
        await until('the turn', () => isTurn, { maxWaitMs: 10_000 })
      }
      await next()
    })
    .use(errors(createLogger('silent')))
    .use(arrivingBodies())
    .use(jsonBody(MAX_BODY_BYTES))
    .use(ctx => {
      ctx.body = 'parsed'
    })
  const server = app.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify(['x'.repeat(MAX_BODY_BYTES - 4)])
  const send = () => fetch(url, { method: 'POST', headers, body })
  const count = MAX_ARRIVING_BYTES / MAX_BODY_BYTES
  const sent = Array.from({ length: count }, send)
  await until('bodies that wait for their turn', () => waiting === count)
  t.equal((await send()).status, 429)
  isTurn = true
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  t.same(statuses, Array(count).fill(200))
  t.equal((await send()).status, 200, 'a body that was parsed counts no longer')
})

t.test('a file that another value has replaced is not kept', async t => {
  const app = new Koa<RequestState>()
    .use(async (ctx, next) => {
      ctx.state.nextTurn = async () => undefined
      await next()
    })
    .use(jsonBody(MAX_BODY_BYTES, { attaches: true }))
    .use(ctx => {
      ctx.body = [...(ctx.state.attachments?.values() ?? [])].map(({ inspected }) => inspected.sizeBytes)
    })
  const server = app.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = (bytes: number) => `"url": "data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}"`
  const body = `{${file(90_000)}, ${file(60_000)}}`
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  t.same(await response.json(), [60_000])
})

t.test('many accounts share what all may be sending', async t => {
  const app = new Koa<RequestState>()
    .use(async (ctx, next) => {
      ctx.state.caller = { accountId: ctx.get('X-Account') } as never
      await next()
    })
    .use(errors(createLogger('silent')))
    .use(arrivingBodies())
    .use(ctx => {
      // A body is on its way until its connection closes.
      if (ctx.request.length !== 2) return new Promise(resolve => ctx.res.once('close', resolve))
      ctx.body = 'read'
    })
  const server = app.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const send = (account: string, bytes: number) =>
    begin(t, port, '/', { 'X-Account': account, 'Content-Length': `${bytes}` }, '{}')
  const counts = { a: MAX_ARRIVING_BYTES, b: MAX_ARRIVING_BYTES, c: MAX_ARRIVING_BYTES_IN_ALL - 3 * MAX_ARRIVING_BYTES }
  const sent = Object.entries(counts).flatMap(([account, bytes]) =>
    Array.from({ length: bytes / MAX_BODY_BYTES }, () => send(account, MAX_BODY_BYTES)),
  )
  const status = async (account: string) => {
    const { received } = send(account, 2)
    await until('an answer', () => received().includes('\r\n\r\n'))
    return received().split(' ')[1]
  }
  await until('the limit of one account', async () => (await status('c')) === '429')
  const d = Array.from({ length: 20 }, () => send('d', MAX_BODY_BYTES))
  await until('the share that is left', () => d.some(({ received }) => received().startsWith('HTTP/1.1 503')))
  t.match(d.findLast(({ received }) => received() !== '')?.received(), /Retry-After: 2\r\n.*"unavailable"/s)
  t.equal(await status('e'), '200', 'others have room')
  t.ok(sent.every(({ received }) => received() === ''))
  for (const { socket } of sent) socket.destroy()
  await until('room again', async () => (await status('d')) === '200')
})

t.test('a body that does not arrive in full is given up', async t => {
  const app = new Koa<RequestState>().use(errors(createLogger('silent'))).use(jsonBody(100, { arrivalMs: 20 }))
  const server = app.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { received, isClosed } = begin(t, port, '/', { 'Content-Length': '50' }, '{')
  await until('the end of the connection', isClosed, { maxWaitMs: 5000 })
  t.match(received(), /^HTTP\/1.1 400 .*Connection: close\r\n.*"invalid_request".*did not arrive in full/s)
})
