import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import Router from '@koa/router'
import Koa from 'koa'
import { koaBody } from 'koa-body'

/** The baseline: only Koa, a router and a body parser. */
const app = new Koa()
// The load generator aborts requests when it ends.
app.silent = true
const router = new Router()
router.get('/v1/balance', ctx => {
  ctx.body = { object: 'balance', credits_balance: 100 }
})
router.post('/v1/run', koaBody(), ctx => {
  ctx.body = ctx.request.body
})
let page = ''
router.put('/page', async ctx => {
  page = await text(ctx.req)
  ctx.body = {}
})
router.get('/page', ctx => {
  ctx.type = 'text/html'
  ctx.body = page
})
const folder = process.argv[2] ?? tmpdir()
router.post('/v1/uploads', async ctx => {
  // `flush` syncs the file before closing it.
  await pipeline(ctx.req, createWriteStream(join(folder, randomUUID()), { flush: true }))
  ctx.body = {}
})
app.use(router.routes())
const server = createServer(app.callback())
process.on('message', () => process.exit(0))
server.listen(0, '127.0.0.1', () =>
  process.send?.({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    // Unused, but keeps the requests byte for byte the same.
    keys: [`tg_sk_live_${'0'.repeat(32)}`],
  }),
)
