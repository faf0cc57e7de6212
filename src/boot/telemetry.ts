import { isAcceptance } from '../../schemas/account-events.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { Position } from '../../schemas/recorded.ts'
import { familyIn } from '../domain/catalog/family.ts'
import type { Clock } from '../ports/clock.ts'
import { type EventLog, type NewEvent, RevisionConflict } from '../ports/event-log.ts'
import { Unavailable } from '../ports/faults.ts'
import type { Metrics, ProviderCall } from '../ports/metrics.ts'
import type { Provider } from '../ports/provider.ts'
import type { Tracer } from '../ports/tracer.ts'
import type { RequestVendor } from '../ports/vendor-request.ts'
import type { ProviderAccount } from '../services/providers/provider-account.ts'
import type { Config } from './config.ts'

/** Where OpenTelemetry's API keeps the SDK that a process has registered. Loading the API takes a start 40 ms. */
const REGISTERED_SDK = Symbol.for('opentelemetry.js.api.1')

/** Runs whose times are known. The rest of the open runs is counted, but not timed. */
const MAX_RUNS = 20_000

type Settings = Pick<Config, 'metrics'>

export const usesTelemetry = ({ metrics }: Settings): boolean => metrics !== undefined || REGISTERED_SDK in globalThis

/** Loads the libraries that the operator uses. */
export const openTelemetry = async ({ metrics }: Settings, clock: Clock): Promise<Telemetry> => {
  const prometheus = metrics && (await import('../adapters/metrics/prometheus.ts')).createPrometheusMetrics()
  const tracing = REGISTERED_SDK in globalThis && (await import('../adapters/tracing/opentelemetry.ts')).openTracer()
  return new Telemetry(clock, prometheus, tracing || undefined)
}

/** An open run. Times are milliseconds of the monotonic clock. */
interface OpenRun {
  family: string
  isTest: boolean
  mode: string
  /** Undefined if another process accepted the run. */
  acceptedAtMs?: number
  upstreamMs: number
  /** When the provider began to work on its job. */
  jobSinceMs?: number
}

/** Measures and traces the work of this process at its ports. Without metrics and traces, the ports are left alone. */
export class Telemetry {
  readonly metrics: Metrics | undefined
  readonly tracer: Tracer | undefined
  readonly #clock: Clock
  /** In the order of their beginning. */
  readonly #runs = new Map<RunId, OpenRun>()

  constructor(clock: Clock, metrics?: Metrics, tracer?: Tracer) {
    this.#clock = clock
    this.metrics = metrics
    this.tracer = tracer
  }

  ofLog(log: EventLog): EventLog {
    const { metrics, tracer } = this
    if (!metrics && !tracer) return log
    const append: EventLog['append'] = (stream, events, revision) => {
      const write = () => log.append(stream, events, revision)
      const traced = () => (tracer ? tracer.append({ stream, events }, write) : write())
      return metrics ? this.#measureAppend(metrics, events, traced) : traced()
    }
    return {
      append,
      readStream: (...range) => log.readStream(...range),
      readEvent: (...place) => log.readEvent(...place),
      readAll: after => log.readAll(after),
      follow: (...range) => log.follow(...range),
      head: () => log.head(),
      ...(log.lastPosition && { lastPosition: log.lastPosition }),
      close: () => log.close(),
    }
  }

  /** Counts the events of each commit of the embedded log, of whichever processes. */
  ofCommits(appended: Commits): void {
    const { metrics } = this
    if (!metrics) return
    let last: Position | undefined
    appended.listen(position => {
      if (last !== undefined && position > last) metrics.committed(position - last)
      last = position
    })
  }

  ofAccount({ provider, account, client }: ProviderAccount): ProviderAccount {
    const { metrics, tracer } = this
    if (!metrics && !tracer) return { provider, account, client }
    const call = <Answer extends { kind: string } | undefined>(
      operation: ProviderCall['operation'],
      job: CalledJob,
      send: () => Promise<Answer>,
    ) => {
      const traced = () => (tracer ? tracer.call({ provider, operation, runId: job.runId }, send) : send())
      return metrics ? this.#measureCall(metrics, { provider, operation, job }, traced) : traced()
    }
    const { poll, cancel } = client
    const measured: Provider = {
      ...(client.deduplicates && { deduplicates: true }),
      submit: (job, signal) => call('submit', job, () => client.submit(job, signal)),
      ...(poll && { poll: (job, signal) => call('poll', job, () => poll.call(client, job, signal)) }),
      ...(cancel && {
        cancel: async (job, signal) => {
          await call('cancel', job, async () => void (await cancel.call(client, job, signal)))
        },
      }),
      ...(client.check && { check: client.check.bind(client) }),
      ...(client.readCallback && { readCallback: client.readCallback.bind(client) }),
      ...(client.close && { close: client.close.bind(client) }),
    }
    return { provider, account, client: measured }
  }

  /** Continues the trace of a call in its request. */
  ofRequests(request: RequestVendor): RequestVendor {
    const { tracer } = this
    if (!tracer) return request
    return (url, sent, readLong) =>
      request(url, { ...sent, headers: { ...sent.headers, ...tracer.headers() } }, readLong)
  }

  async #measureAppend(metrics: Metrics, events: NewEvent[], write: () => ReturnType<EventLog['append']>) {
    const beganAtMs = this.#clock.monotonicMs()
    try {
      const appended = await write()
      const nowMs = this.#clock.monotonicMs()
      metrics.appended(events.length, (nowMs - beganAtMs) / 1000)
      for (const event of events) this.#count(metrics, event, beganAtMs, nowMs)
      return appended
    } catch (error) {
      metrics.appendFailed(reasonOf(error))
      throw error
    }
  }

  #count(metrics: Metrics, event: NewEvent, beganAtMs: number, nowMs: number) {
    if (isAcceptance(event)) {
      const { runId, model, mode, livemode } = event.data
      const isTest = livemode === false
      return this.#open(runId, { family: model, mode, isTest, acceptedAtMs: beganAtMs, upstreamMs: 0 })
    }
    const data = event.data as EventData
    switch (event.type) {
      case 'CreditsDebited':
        return metrics.creditsMoved('debited', data.amountMicros)
      case 'CreditsReleased':
        return metrics.creditsMoved('released', data.amountMicros)
      case 'CreditsRefunded':
        return metrics.creditsMoved('refunded', data.amountMicros)
      case 'RunCompleted':
      case 'RunFailed': {
        const run = this.#runs.get(data.runId)
        const { family, isTest = false } = run ?? {}
        metrics.runEnded({ family, outcome: data.error?.code ?? 'completed', isTest })
        this.#runs.delete(data.runId)
        if (run?.acceptedAtMs === undefined) return
        const { mode, upstreamMs, acceptedAtMs } = run
        const ownMs = Math.max(0, nowMs - acceptedAtMs - upstreamMs)
        return metrics.runTook(mode, { upstream: upstreamMs / 1000, own: ownMs / 1000 })
      }
      case 'WebhookDelivered':
        return metrics.webhookAttempted('delivered')
      case 'WebhookAttemptFailed':
        return metrics.webhookAttempted('failed')
      case 'WebhookAbandoned':
        return metrics.webhookAbandoned()
    }
  }

  async #measureCall<Answer extends { kind: string } | undefined>(
    metrics: Metrics,
    { provider, operation, job }: Pick<ProviderCall, 'provider' | 'operation'> & { job: CalledJob },
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    const run = this.#runOf(job)
    const beganAtMs = this.#clock.monotonicMs()
    let outcome = 'no_answer'
    try {
      const answer = await send()
      outcome = outcomeOf(answer)
      return answer
    } finally {
      const nowMs = this.#clock.monotonicMs()
      metrics.called({ provider, operation, outcome }, (nowMs - beganAtMs) / 1000)
      if (operation === 'submit' && outcome === 'submitted') run.jobSinceMs = beganAtMs
      else if (operation === 'submit') run.upstreamMs += nowMs - beganAtMs
      else if (operation === 'poll' && outcome !== 'working' && outcome !== 'no_answer' && run.jobSinceMs !== undefined)
        run.upstreamMs += nowMs - run.jobSinceMs
    }
  }

  /** Runs that another process accepted are known from their first call. */
  #runOf({ runId, endpoint }: CalledJob): OpenRun {
    const known = this.#runs.get(runId)
    if (known) return known
    const run = { family: familyIn(endpoint), mode: 'async', isTest: false, upstreamMs: 0 }
    this.#open(runId, run)
    return run
  }

  #open(runId: RunId, run: OpenRun) {
    this.#runs.set(runId, run)
    if (this.#runs.size <= MAX_RUNS) return
    for (const oldest of this.#runs.keys()) return this.#runs.delete(oldest)
  }
}

interface Commits {
  listen(listener: (position: Position) => void): unknown
}

interface CalledJob {
  runId: RunId
  accountId: AccountId
  endpoint: string
}

interface EventData {
  runId: RunId
  amountMicros: number
  error?: { code: string }
}

/** See `append` of the port. */
const reasonOf = (error: unknown) => {
  if (error instanceof RevisionConflict) return 'conflict'
  return error instanceof Unavailable ? 'unavailable' : 'in_doubt'
}

/** The kind of an answer; of a failure, the fault of the provider, or else the reason. */
const outcomeOf = (answer: { kind: string; code?: string; fault?: { kind: string } } | undefined): string => {
  if (answer === undefined) return 'done'
  return answer.kind === 'failed' ? (answer.fault?.kind ?? answer.code ?? 'failed') : answer.kind
}
