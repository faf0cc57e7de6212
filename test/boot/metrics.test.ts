import t from 'tap'
import { startServer } from '../../src/boot/server.ts'
import { picture, sandbox } from '../support/client.ts'
import { startMeasured, useMeasured } from '../support/measured-service.ts'
import { readMetrics } from '../support/metrics.ts'
import { hold, startReceiver } from '../support/receiver.ts'
import { openAccount, openFolder, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const service = await startMeasured(t)

t.test('the metrics count requests, runs, credits, calls and webhooks', async t => {
  const before = await readMetrics(service)
  await useMeasured(t, service)
  const after = await readMetrics(service)
  const rise = (name: string, labels: Record<string, string> = {}) =>
    (after.sum(`tollgate_${name}`, labels) ?? 0) - (before.sum(`tollgate_${name}`, labels) ?? 0)
  t.equal(rise('http_request_duration_seconds_count', { method: 'POST', route: '/v1/run' }), 4)
  const live = { family: 'sandbox', live: 'true' }
  t.equal(rise('runs_ended_total', { ...live, outcome: 'completed' }), 2)
  for (const outcome of ['content_rejected', 'provider_error'])
    t.equal(rise('runs_ended_total', { ...live, outcome }), 1)
  t.equal(rise('credits_debited_total'), 4)
  t.equal(rise('credits_refunded_total'), 2)
  const calls = { provider: 'sandbox', operation: 'submit' }
  for (const outcome of ['done', 'content_rejected', 'submitted', 'unauthorized'])
    t.equal(rise('provider_call_duration_seconds_count', { ...calls, outcome }), 1, outcome)
  t.equal(rise('provider_call_duration_seconds_count', { ...calls, operation: 'poll', outcome: 'done' }), 1)
  for (const name of ['run_upstream_seconds_count', 'run_own_seconds_count']) t.equal(rise(name), 4, name)
  t.equal(rise('webhook_attempts_total', { outcome: 'failed' }), 1)
  t.equal(rise('webhooks_abandoned_total'), 1)
  t.ok(rise('log_append_duration_seconds_count') >= 8)
  t.ok(rise('log_appended_events_total') > rise('log_append_duration_seconds_count'))
  t.ok(rise('log_commit_events_count') > 0)
  t.equal(after.sum('tollgate_circuit_breakers_open', { provider: 'sandbox', kind: 'unauthorized' }), 1)
})

t.test('the metrics show the state of the process', async t => {
  const caughtUp = async () => (await readMetrics(service)).sum('tollgate_projector_lag_events') === 0
  await until('the views have caught up', caughtUp)
  const metrics = await readMetrics(service)
  const queues = ['cancel', 'deliver', 'notices', 'objects', 'start', 'watch']
  t.same(metrics.values('tollgate_queue_length', 'queue'), queues)
  t.same(metrics.values('tollgate_queue_oldest_seconds', 'queue'), queues)
  for (const name of ['projector_lag_seconds', 'provider_calls_in_flight', 'streams_open'])
    t.equal(metrics.sum(`tollgate_${name}`), 0, name)
  for (const name of ['http_connections_open', 'disk_free_bytes', 'provider_calls_max'])
    t.ok((metrics.sum(`tollgate_${name}`) ?? 0) > 0, name)
  for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_cpu_seconds_total'])
    t.ok(metrics.sum(name) !== undefined, name)
})

t.test('a queue shows its due work', async t => {
  const customer = await openAccount(service, { tester: true })
  const receiver = await startReceiver(t)
  receiver.answer = hold
  await customer.run({ ...sandbox(), webhook_url: receiver.url })
  await receiver.until(1)
  const metrics = await readMetrics(service)
  const deliveries = { queue: 'deliver' }
  t.equal(metrics.sum('tollgate_queue_length', deliveries), 1)
  t.ok((metrics.sum('tollgate_queue_oldest_seconds', deliveries) ?? 0) > 0)
})

t.test('an event stream counts while it is open', async t => {
  const customer = await openAccount(service, { tester: true })
  const film = { model: 'sandbox', input: { prompt: 'a film', image_url: 'none', outcome: 'hang' } }
  const { body } = await customer.run(film)
  const leaving = new AbortController()
  const headers = { Authorization: `Bearer ${customer.apiKey}`, Accept: 'text/event-stream' }
  const stream = await fetch(`${customer.url}/v1/runs/${body.run_id}/events`, { headers, signal: leaving.signal })
  t.equal(stream.status, 200)
  const open = async () => (await readMetrics(service)).sum('tollgate_streams_open')
  await until('the stream counts', async () => (await open()) === 1)
  leaving.abort()
  await until('it counts no more', async () => (await open()) === 0)
})

t.test('routes and methods of requests are few, whatever clients send', async t => {
  const customer = await openAccount(service)
  await customer.send('/v1/runs/run_01kb5w6h1rf0n9k0f4n3z6v3t2')
  await customer.send('/nothing/here')
  await customer.sendRaw('/v1/balance', { method: 'PROPFIND' })
  // The library of MCP answers by itself.
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  t.equal((await customer.post('/mcp', call, { Accept: 'application/json, text/event-stream' })).status, 200)
  const metrics = await readMetrics(service)
  const mcp = { route: '/mcp', method: 'POST' }
  t.equal(metrics.sum('tollgate_http_request_duration_seconds_count', { ...mcp, status: '200' }), 1)
  t.equal(metrics.sum('tollgate_http_request_duration_seconds_count', mcp), 1)
  const routes = metrics.values('tollgate_http_request_duration_seconds_count', 'route')
  t.ok(routes.includes('/v1/runs/:id'), routes.join(' '))
  t.ok(routes.includes('none'))
  t.notOk(routes.some(route => route.includes('nothing') || route.includes('run_')))
  t.same(metrics.values('tollgate_http_request_duration_seconds_count', 'method'), ['GET', 'POST', 'other'])
})

t.test('an answer with 503 counts by what is unavailable', async t => {
  const service = await startService(t, { environment: { METRICS_PORT: '0' }, providers: {} })
  const customer = await openAccount(service)
  t.equal((await customer.run(picture)).status, 503)
  const metrics = await readMetrics(service)
  t.equal(metrics.sum('tollgate_unavailable_total', { reason: 'provider' }), 1)
  t.equal(metrics.sum('tollgate_unavailable_total'), 1)
})

t.test('a METRICS_PORT in use is reported', async t => {
  const environment = { METRICS_PORT: String(service.metricsPort) }
  const core = await openFolder(await temporaryFolder(t), { environment })
  await t.rejects(startServer(core), { name: 'ConfigError', message: /^METRICS_PORT cannot be used: .*EADDRINUSE/ })
  await core.close()
})

t.test('without METRICS_PORT there are no metrics', async t => {
  const service = await startService(t)
  t.equal(service.metricsPort, undefined)
  t.equal((await service.client().sendRaw('/metrics')).status, 404)
})
