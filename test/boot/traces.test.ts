import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import t from 'tap'
import { openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { KEY, startOpenAi } from '../support/vendors/openai.ts'

const exporter = new InMemorySpanExporter()
const vendor = await startOpenAi(t)
const environment = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: vendor.url }

const register = () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
}

/** Other test files share this process. */
const unregister = () => {
  for (const api of [trace, context, propagation]) api.disable()
}
t.teardown(unregister)

/** The trace of a client, and the ID of the client's span. */
const CLIENTS = [
  ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'],
  ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'],
] as const

const chat = { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }

const spansOf = (traceId: string): ReadableSpan[] =>
  exporter.getFinishedSpans().filter(span => span.spanContext().traceId === traceId)

t.test('requests at the same time have a trace each, from the client to the provider', async t => {
  register()
  const service = await startService(t, { environment })
  const customer = await openAccount(service)
  const answers = await Promise.all(
    CLIENTS.map(([traceId, spanId]) =>
      customer.run(chat, { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'secret=of-the-client' }),
    ),
  )
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  )
  for (const [index, [traceId, spanId]] of CLIENTS.entries()) {
    await until('the request has ended', () => spansOf(traceId).some(({ kind }) => kind === SpanKind.SERVER))
    const spans = spansOf(traceId)
    const request = spans.find(({ kind }) => kind === SpanKind.SERVER)
    t.equal(request?.name, 'POST /v1/run')
    t.equal(request?.parentSpanContext?.spanId, spanId)
    t.match(request?.attributes, { 'http.route': '/v1/run', 'http.response.status_code': 200 })
    const others = spans.filter(span => span !== request)
    t.same(others.map(({ name }) => name).sort(), ['append', 'append', 'submit openai'])
    for (const span of others) t.equal(span.parentSpanContext?.spanId, request?.spanContext().spanId, span.name)

    const call = others.find(({ name }) => name === 'submit openai')
    t.equal(call?.attributes['tollgate.run_id'], answers[index]?.body.run_id)
    const atVendor = vendor.requests.find(({ headers }) => headers['traceparent']?.includes(traceId))
    t.equal(atVendor?.headers['traceparent'], `00-${traceId}-${call?.spanContext().spanId}-01`)
    t.notOk(atVendor?.headers['tracestate'], 'what the client adds is not for the provider')
  }
  unregister()
})

t.test('without an SDK the provider gets no trace', async t => {
  exporter.reset()
  const service = await startService(t, { environment })
  const customer = await openAccount(service)
  const [[traceId, spanId]] = CLIENTS
  await customer.run(chat, { traceparent: `00-${traceId}-${spanId}-01` })
  t.equal(vendor.requests.at(-1)?.headers['traceparent'], undefined)
  t.same(exporter.getFinishedSpans(), [])
})
