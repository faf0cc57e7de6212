import {
  type Context,
  context,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { LRUCache } from 'lru-cache'
import type { Tracer } from '../../ports/tracer.ts'

/** Runs whose traces are known: more than are open at a time, in a few megabytes. */
const MAX_RUNS = 10_000

/** Traces with the SDK that the operator has registered; undefined if there is none. */
export const openTracer = (): Tracer | undefined => {
  const provider = trace.getTracerProvider()
  if (provider instanceof ProxyTracerProvider && !provider.getDelegateTracer('tollgate')) return undefined
  const tracer = provider.getTracer('tollgate')
  // Requests share appends, and runs wait in queues, so their work does not always begin in the request's context.
  const requests = new Map<string, Context>()
  const runs = new LRUCache<string, Context>({ maxSize: MAX_RUNS, sizeCalculation: () => 1 })

  const start = (name: string, kind: SpanKind, parent: Context, attributes: Record<string, string>) =>
    tracer.startSpan(name, { kind, attributes }, parent)

  return {
    request: ({ method, requestId, headers }, serve) => {
      const active = context.active()
      // An instrumentation of the operator may have begun a span.
      const parent = trace.getSpan(active) ? active : propagation.extract(active, headers)
      const attributes = { 'http.request.method': method, 'tollgate.request_id': requestId }
      const span = start(method, SpanKind.SERVER, parent, attributes)
      const own = trace.setSpan(parent, span)
      requests.set(requestId, own)
      const work = async () => {
        const { route, status } = await serve()
        if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route)
        span.setAttribute('http.response.status_code', status)
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      }
      return untilDone([span], context.with(own, work)).finally(() => requests.delete(requestId))
    },
    append: ({ stream, events }, write) => {
      const parents = new Set<Context>()
      for (const { data, metadata } of events) {
        const { runId = '' } = data as { runId?: string }
        const ofRequest = requests.get((metadata as { requestId?: string }).requestId ?? '')
        if (ofRequest && runId !== '' && !runs.has(runId)) runs.set(runId, ofRequest)
        parents.add(ofRequest ?? runs.get(runId) ?? ROOT_CONTEXT)
      }
      // Work without a request has no trace unless it has a run's.
      if (parents.size > 1) parents.delete(ROOT_CONTEXT)
      const types = [...new Set(events.map(({ type }) => type))].join(' ')
      const attributes = { 'tollgate.stream': stream, 'tollgate.events': types }
      return untilDone(
        [...parents].map(parent => start('append', SpanKind.CLIENT, parent, attributes)),
        write(),
      )
    },
    call: ({ provider, operation, runId }, send) => {
      const parent = runs.get(runId) ?? ROOT_CONTEXT
      const attributes = { 'tollgate.provider': provider, 'tollgate.run_id': runId }
      const span = start(`${operation} ${provider}`, SpanKind.CLIENT, parent, attributes)
      return untilDone([span], context.with(trace.setSpan(parent, span), send))
    },
    headers: () => {
      const carrier: { traceparent?: string } = {}
      propagation.inject(context.active(), carrier)
      // What clients put into `tracestate` and `baggage` is not for providers.
      return carrier.traceparent === undefined ? {} : { traceparent: carrier.traceparent }
    },
  }
}

/** Ends the spans of work with the work. Messages of errors may quote what a client or a provider sent. */
const untilDone = async <Result>(spans: Span[], work: Promise<Result>): Promise<Result> => {
  try {
    return await work
  } catch (error) {
    for (const span of spans)
      span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', (error as Error).name)
    throw error
  } finally {
    for (const span of spans) span.end()
  }
}
