import t from 'tap'
import { picture } from '../support/client.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const customer = await openAccount(service)

const ask = (path: string, id?: string) =>
  customer.send(path, id === undefined ? {} : { headers: { 'X-Request-Id': id } })

t.test('every answer has a unique request id', async t => {
  const paths = ['/healthz', '/readyz', '/v1/balance', '/v1/models', '/v1/runs', '/v1/runs/x', '/cdn/x/y', '/nowhere']
  const ids = await Promise.all(paths.map(async path => (await ask(path)).headers.get('X-Request-Id')))
  for (const id of ids) t.match(id, /^[0-9a-f-]{36}$/)
  t.equal(new Set(ids).size, paths.length)
})

t.test('a well-formed request id of the client is kept', async t => {
  for (const id of ['a', 'order-7.retry_2', 'x'.repeat(128)])
    t.equal((await ask('/healthz', id)).headers.get('X-Request-Id'), id)
  for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', 'é', '<script>'])
    t.match((await ask('/healthz', id)).headers.get('X-Request-Id'), /^[0-9a-f-]{36}$/)
})

t.test('error bodies contain the request id', async t => {
  const { headers, body } = await ask('/nowhere', 'lost')
  t.equal(headers.get('X-Request-Id'), 'lost')
  t.equal(body.error.request_id, 'lost')
})

t.test('the events of a run carry the id of the request', async t => {
  await customer.run(picture, { 'X-Request-Id': 'order-8' })
  const seen: unknown[] = []
  for await (const page of service.core.log.readAll(-1))
    for (const { type, metadata } of page)
      if ((metadata as { requestId?: string }).requestId === 'order-8') seen.push(type)
  t.same(seen, ['CreditsDebited', 'RunStarted'])
})
