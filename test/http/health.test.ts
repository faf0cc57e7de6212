import t from 'tap'
import type { Readiness } from '../../schemas/api/health.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
const stranger = service.client()

t.test('the liveness check needs no key', async t => {
  const { status, body } = await stranger.send('/healthz')
  t.equal(status, 200)
  t.same(body, { status: 'ok' })
})

t.test('the service is ready when all stores answer', async t => {
  const { status, body } = await stranger.send<Readiness>('/readyz')
  t.equal(status, 200)
  t.match(body, { status: 'ready', log: 'ok', views: 'ok', objects: 'ok', disk: 'ok', events_behind: 0 })
  t.ok(body.free_bytes > 2 ** 27)
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
  t.match(body.error, { code: 'unavailable', message: 'Not ready: log.' })
  t.equal((await stranger.send('/healthz')).status, 200)
})

t.test('the readiness check tells how far the views are behind', async t => {
  const { log } = service.core
  const { head } = log
  log.head = async () => (await head()) + 3
  t.teardown(() => {
    log.head = head
  })
  const { body } = await stranger.send<Readiness>('/readyz')
  t.equal(body.events_behind, 3)
})

t.test('the service is not ready while emptied views are rebuilt', async t => {
  const { views } = service.core
  const { checkpoint } = views
  views.checkpoint = async () => undefined
  t.teardown(() => {
    views.checkpoint = checkpoint
  })
  const { status, body } = await stranger.send('/readyz')
  t.equal(status, 503)
  t.match(body.error, { message: 'Not ready: views.' })
})
