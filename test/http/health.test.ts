import t from 'tap'
import { startService } from '../support/service.ts'

const service = await startService(t)
const stranger = service.client()

t.test('the liveness check needs no key', async t => {
  const { status, body } = await stranger.send('/healthz')
  t.equal(status, 200)
  t.same(body, { status: 'ok' })
})

t.test('the service is ready when all stores answer', async t => {
  const { status, body } = await stranger.send('/readyz')
  t.equal(status, 200)
  t.same(body, { status: 'ready', log: 'ok', views: 'ok', objects: 'ok' })
})

t.test('the readiness check names stores that do not answer', async t => {
  const { log } = service.core
  const { head } = log
  log.head = () => Promise.reject(new Error('gone'))
  t.teardown(() => {
    log.head = head
  })
  const { status, headers, body } = await stranger.send('/readyz')
  t.equal(status, 503)
  t.equal(headers.get('Retry-After'), '2')
  t.match(body.error, { code: 'unavailable', message: 'No answer from: log.' })
  t.equal((await stranger.send('/healthz')).status, 200)
})
