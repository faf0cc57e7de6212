import type { IncomingHttpHeaders } from 'node:http'
import type { RunId } from '../../schemas/primitives.ts'
import type { AnsweredRequest } from './metrics.ts'

/** Traces requests to the appends and the calls of providers that they cause. */
export interface Tracer {
  /** Serves a request in a span that continues the client's trace. */
  request(request: TracedRequest, serve: () => Promise<AnsweredRequest>): Promise<void>
  /** Appends events in the trace of the request or the run that causes them. */
  append<Result>(append: TracedAppend, write: () => Promise<Result>): Promise<Result>
  /** Calls a provider in the trace of the request that its run comes from. */
  call<Answer>(call: TracedCall, send: () => Promise<Answer>): Promise<Answer>
  /** The headers that continue the trace of the present call at the provider. */
  headers(): Record<string, string>
}

export interface TracedRequest {
  method: string
  requestId: string
  headers: IncomingHttpHeaders
}

export interface TracedAppend {
  stream: string
  events: { type: string; data: unknown; metadata: unknown }[]
}

export interface TracedCall {
  provider: string
  operation: string
  runId: RunId
}
