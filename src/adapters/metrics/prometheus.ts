import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { parts } from '../../ports/faults.ts'
import { appendFaults, type Metrics, type WatchedState } from '../../ports/metrics.ts'
import { Counter, Histogram } from './series.ts'

/** From a durable append to a long request. */
const SHORT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/** From an instant answer of a text model to a long film. */
const WORK_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1800]

/** Events in a commit. */
const BATCH_EVENTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/** How often the delay of the event loop is sampled. The 10 ms of prom-client take 0.4 % of a core, 50 ms 0.07 %. */
const SAMPLE_MS = 50

const UPSTREAM = 'The time for which a provider worked on a run'
const OWN = 'The time from the acceptance of a run to its recorded end, without the time at its provider'

/** The methods that routes have. Clients may send any other. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

/** The metrics of one process in the format of Prometheus: https://prometheus.io/docs/practices/naming/ */
export const createPrometheusMetrics = (): Metrics => {
  const register = new Registry()
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: SAMPLE_MS })

  const shown = <Shown extends Counter | Histogram>(series: Shown): Shown => {
    register.registerMetric(series as unknown as Metric)
    return series
  }
  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    shown(new Histogram({ name: `tollgate_${name}`, help, buckets, labelNames }))
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    shown(new Counter({ name: `tollgate_${name}`, help, labelNames }))
  const credits = (name: string, help: string) =>
    shown(new Counter({ name: `tollgate_credits_${name}_total`, help, labelNames: [], scale: 1e-6 }))

  const requests = histogram(
    'http_request_duration_seconds',
    'The time from the headers of a request to its answer; of a stream, to its beginning',
    SHORT_SECONDS,
    ...['method', 'route', 'status'],
  )
  const unavailable = counter('unavailable_total', 'Requests that got 503, by what was unavailable', 'reason')
  const internalErrors = counter('internal_errors_total', 'Requests that got 500')
  const streams = new Gauge({
    ...{ name: 'tollgate_streams_open', help: 'Event streams that are being sent', registers: [register] },
  })
  const appends = histogram('log_append_duration_seconds', 'The time until an append was durable', SHORT_SECONDS)
  const appendedEvents = counter('log_appended_events_total', 'Events that this process appended')
  const appendFailures = counter('log_append_failures_total', 'Appends that failed', 'reason')
  const commits = histogram('log_commit_events', 'The events of a commit of the embedded log', BATCH_EVENTS)
  const calls = histogram(
    'provider_call_duration_seconds',
    'The time of a call to a provider',
    WORK_SECONDS,
    ...['provider', 'operation', 'outcome'],
  )
  const runs = counter('runs_ended_total', 'Runs that this process ended', 'family', 'outcome', 'live')
  const upstream = histogram('run_upstream_seconds', UPSTREAM, WORK_SECONDS, 'mode')
  const own = histogram('run_own_seconds', OWN, WORK_SECONDS, 'mode')
  const moved = {
    debited: credits('debited', 'Credits that this process debited for runs'),
    released: credits('released', 'Credits of debits that completed runs did not need'),
    refunded: credits('refunded', 'Credits that this process refunded'),
  }
  const attempts = counter('webhook_attempts_total', 'Attempts to deliver a webhook', 'outcome')
  const abandoned = counter('webhooks_abandoned_total', 'Webhooks that were abandoned after the last attempt')
  // A rate counts from the zero before the first failure.
  for (const outcome of ['delivered', 'failed']) attempts.add(0, outcome)
  for (const reason of parts) unavailable.add(0, reason)
  for (const reason of appendFaults) appendFailures.add(0, reason)

  /** A gauge that is read with each scrape, and left out if it cannot be read. */
  const read = (
    name: string,
    help: string,
    labelNames: string[],
    values: () => Promise<[labels: Record<string, string>, value: number][]>,
  ) =>
    new Gauge({
      ...{ name: `tollgate_${name}`, help, labelNames, registers: [register] },
      async collect() {
        this.reset()
        for (const [labels, value] of await values().catch(() => [])) this.set(labels, value)
      },
    })

  const watch = ({ queues, ...state }: WatchedState) => {
    if (queues) {
      const due = shared(queues)
      read('queue_length', 'Pieces of due work, by queue', ['queue'], async () =>
        (await due()).map(({ queue, length }) => [{ queue }, length]),
      )
      read('queue_oldest_seconds', 'How long the oldest piece of due work has been due', ['queue'], async () =>
        (await due()).map(({ queue, oldestSeconds }) => [{ queue }, oldestSeconds]),
      )
    }
    const lag = shared(state.projectorLag)
    read('projector_lag_events', 'Events that the views lack', [], async () => [[{}, (await lag()).events]])
    read('projector_lag_seconds', 'The age of the oldest event that the views lack', [], async () => [
      [{}, (await lag()).seconds],
    ])
    read(
      'circuit_breakers_open',
      'Open circuit breakers, by the fault that opened them',
      ['provider', 'kind'],
      async () => {
        const counts = new Map<string, [Record<string, string>, number]>()
        for (const { provider, kind } of state.openBreakers()) {
          const [labels, count] = counts.get(`${provider} ${kind}`) ?? [{ provider, kind }, 0]
          counts.set(`${provider} ${kind}`, [labels, count + 1])
        }
        return [...counts.values()]
      },
    )
    read('provider_calls_in_flight', 'Calls to a provider that are in progress', ['provider'], async () =>
      state.callsInFlight().map(({ provider, calls }) => [{ provider }, calls]),
    )
    read('provider_calls_max', 'The number of calls to a provider at a time', ['provider'], async () =>
      state.callsInFlight().map(({ provider, maxCalls }) => [{ provider }, maxCalls]),
    )
    read('http_connections_open', 'Open connections of clients', [], async () => [[{}, await state.connections()]])
    read('disk_free_bytes', 'The free space for a store on a local disk', ['store'], async () =>
      (await state.freeBytes()).map(({ store, bytes }) => [{ store }, bytes]),
    )
  }

  return {
    answered: ({ method, route = 'none', status, unavailable: reason }, seconds) => {
      requests.observe(seconds, METHODS.has(method) ? method : 'other', route, String(status))
      if (reason !== undefined) unavailable.add(1, reason)
      if (status === 500) internalErrors.add(1)
    },
    streamOpened: () => {
      streams.inc()
      return () => streams.dec()
    },
    appended: (events, seconds) => {
      appends.observe(seconds)
      appendedEvents.add(events)
    },
    appendFailed: reason => appendFailures.add(1, reason),
    committed: events => commits.observe(events),
    called: ({ provider, operation, outcome }, seconds) => calls.observe(seconds, provider, operation, outcome),
    runEnded: ({ family = 'unknown', outcome, isTest }) => runs.add(1, family, outcome, isTest ? 'false' : 'true'),
    runTook: (mode, seconds) => {
      upstream.observe(seconds.upstream, mode)
      own.observe(seconds.own, mode)
    },
    creditsMoved: (direction, amountMicros) => moved[direction].add(amountMicros),
    webhookAttempted: outcome => attempts.add(1, outcome),
    webhookAbandoned: () => abandoned.add(1),
    watch,
    text: shared(async () => ({ contentType: register.contentType, body: await register.metrics() })),
  }
}

/** Callers that come meanwhile get the result of the call in progress. */
const shared = <Value>(read: () => Promise<Value>): (() => Promise<Value>) => {
  let reading: Promise<Value> | undefined
  return () => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
}
