import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { type AccountId, MAX_UNREAD_BYTES } from '../../schemas/primitives.ts'
import { createLogger } from '../../src/adapters/logger/pino.ts'
import type { Context, RequestState } from '../../src/http/context.ts'
import { errors } from '../../src/http/middleware/errors.ts'
import { ownerOnly } from '../../src/http/middleware/pages.ts'
import { unreadResponses } from '../../src/http/middleware/unread-responses.ts'
import { toolNamed } from '../../src/mcp/tools.ts'
import { ApiError } from '../../src/transports/api-error.ts'
import { until } from '../support/until.ts'

/** Large enough that the buffers of the system do not take it. */
const LARGE = 'x'.repeat(MAX_UNREAD_BYTES / 4)

type Limit = (app: Koa<RequestState>, answer: (ctx: Context, body: unknown) => Promise<void>) => void

const ofApi: Limit = (app, answer) => {
  app.use((ctx, next) => {
    Object.assign(ctx.state, { caller: { accountId: ctx.path } })
    return next()
  })
  app.use(unreadResponses())
  app.use(ctx => answer(ctx, { text: LARGE }))
}

const ofPages: Limit = (app, answer) => {
  const sessions = { ownerOf: async ({ path }: Context) => ({ accountId: path as AccountId }) }
  const forOwner = ownerOnly(sessions as never, { ofOwner: async () => ({}) } as never)
  app.use(forOwner(ctx => answer(ctx, LARGE)))
}

/** A service whose paths are accounts, and how many requests it has begun. Each is held until it may go on. */
const serve = async (t: Test, mayGoOn: () => Promise<unknown> = async () => undefined, limit = ofApi) => {
  let begun = 0
  const app = new Koa<RequestState>()
  app.use(errors(createLogger('silent')))
  limit(app, async (ctx, body) => {
    begun++
    await mayGoOn()
    ctx.body = body
  })
  // Connections break here on purpose.
  app.on('error', () => undefined)
  const server = app.listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  /** Sends a request and takes no answer. */
  const ignore = (method: string, path: string) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`))
    socket.pause().on('error', () => undefined)
    t.teardown(() => socket.destroy())
    return socket
  }
  const send = async (method: string, path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    await answer.text()
    return answer
  }
  return { begun: () => begun, ignore, send }
}

for (const [name, limit] of Object.entries({ answers: ofApi, pages: ofPages }))
  t.test(`the ${name} that an account has not taken are limited`, async t => {
    const { begun, ignore, send } = await serve(t, undefined, limit)
    const ignored = Array.from({ length: 4 }, () => ignore('GET', '/a'))
    await until('the answers', () => begun() === 4)
    const refused = await send('POST', '/a')
    t.equal(refused.status, 429)
    t.equal(refused.headers.get('Retry-After'), '60')
    t.equal(begun(), 4, 'nothing is done for a request that is refused')
    t.equal((await send('GET', '/b')).status, 200, 'other accounts')
    ignored[0]?.destroy()
    await until('room for another', async () => (await send('GET', '/a')).status === 200)
    t.equal((await send('GET', '/a')).status, 200, 'an answer that was taken counts no longer')
  })

t.test('of the requests that have begun, reads are refused and writes are answered', async t => {
  const held: (() => void)[] = []
  const { begun, ignore, send } = await serve(t, () => new Promise<void>(resolve => held.push(resolve)))
  for (let count = 0; count < 4; count++) ignore('GET', '/a')
  await until('these requests', () => begun() === 4)
  const answers = ['GET', 'POST'].map(method => send(method, '/a'))
  await until('all requests', () => begun() === 6)
  for (const goOn of held) goOn()
  t.same(
    (await Promise.all(answers)).map(({ status }) => status),
    [429, 200],
  )
})

t.test('the results of tools count too', async t => {
  const counted: number[] = []
  const call = (countAnswer: (bytes: number) => void) => {
    const services = { catalog: { list: async () => ({ value: [] }) } }
    return toolNamed('list_models')?.call({}, { services, countAnswer, caller: {} } as never)
  }
  const result = await call(bytes => void counted.push(bytes))
  const texts = result?.content.map(block => (block.type === 'text' ? block.text : '')) ?? []
  t.same(counted, [JSON.stringify(result?.structuredContent).length + texts.join('').length])
  const refused = await call(() => {
    throw new ApiError('rate_limited', 'Too many.')
  })
  t.match(refused, { isError: true, content: [{ text: /"rate_limited"/ }] })
})
