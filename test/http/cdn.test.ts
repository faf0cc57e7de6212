import t from 'tap'
import { picture } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'

const service = await startService(t)
const stranger = service.client()
const customer = await openAccount(service)
const { body: run } = await customer.run(picture)
const path = new URL(String(run.output?.url)).pathname

t.test('a result is there for whoever has its address', async t => {
  t.match(path, /^\/cdn\/outputs\/[0-9a-f]{32}\.png$/)
  t.equal((await stranger.send(path)).status, 200)
})

t.test('HEAD answers with the headers alone', async t => {
  const [head, get] = await Promise.all([stranger.send(path, { method: 'HEAD' }), stranger.send(path)])
  t.equal(head.status, 200)
  t.equal(head.text, '')
  for (const name of ['Content-Type', 'Content-Length', 'Cache-Control', 'X-Content-Type-Options'])
    t.equal(head.headers.get(name), get.headers.get(name), name)
})

t.test('what is not there is not found, and no path leads out of the store', async t => {
  const absent = [
    `/cdn/outputs/${'0'.repeat(32)}.png`,
    path.replace('.png', '.jpg'),
    path.toUpperCase(),
    `${path}/`,
    '/cdn/outputs',
    '/cdn/',
    '/cdn/outputs/..',
    '/cdn/../package.json',
    '/cdn/outputs/../../log/data.mdb',
    '/cdn/outputs/..%2f..%2flog%2fdata.mdb',
    '/cdn/%2e%2e/log',
    '/cdn/outputs/%00.png',
    '/cdn/outputs/%',
    '/cdn/arriving/x',
    `/cdn/${'a'.repeat(300)}/${'0'.repeat(32)}.png`,
  ]
  for (const path of absent) {
    const { status, text } = await stranger.sendRaw(path)
    t.equal(status, 404, path)
    t.equal(JSON.parse(text).error.code, 'not_found', path)
  }
})

t.test('nothing can be put there', async t => {
  for (const method of ['PUT', 'POST', 'DELETE']) {
    const { status, headers } = await stranger.send(path, { method })
    t.equal(status, 405)
    t.match(headers.get('Allow'), /GET/)
  }
  t.equal((await stranger.send(path)).status, 200)
})
