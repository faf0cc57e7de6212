import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { Health, Readiness } from '../../../schemas/api/health.ts'
import type { Clock } from '../../ports/clock.ts'
import { withinTime } from '../../time/timers.ts'
import { ApiError } from '../../transports/api-error.ts'
import { route } from '../route.ts'

/** A store that takes longer to respond counts as unavailable. */
const CHECK_TIMEOUT_MS = 2000

/** Each check rejects if its part of the service is unavailable. */
export interface HealthChecks {
  /** The position of the last event. */
  log(): Promise<number>
  /** The position up to which the views show the log. */
  views(): Promise<number>
  objects(): Promise<unknown>
  /** The free bytes of the data folder's disk. */
  disk(): Promise<number>
}

interface HealthDependencies {
  checks: HealthChecks
  clock: Clock
}

const getHealth = route({
  id: 'getHealth',
  method: 'get',
  path: '/healthz',
  tag: 'Service',
  summary: 'Check that the process is alive',
  description: 'Responds while the process runs, even if the process cannot reach its stores.',
  auth: 'none',
  responses: { 200: { description: 'The process is alive.', shape: Health, examples: { Alive: examples.health } } },
  serve: (ctx, _: HealthDependencies) => {
    ctx.body = { status: 'ok' } satisfies Health
  },
})

const getReadiness = route({
  id: 'getReadiness',
  method: 'get',
  path: '/readyz',
  tag: 'Service',
  summary: 'Check that the event log, the views and the object store respond, and that the disk has room',
  description: 'If a check fails, the response is 503 and names the failed check.',
  auth: 'none',
  responses: {
    200: { description: 'All checks succeed.', shape: Readiness, examples: { Ready: examples.readiness } },
  },
  serve: async (ctx, { checks, clock }: HealthDependencies) => {
    const [log, views, objects, disk] = await Promise.all([
      inTime(clock, checks.log),
      inTime(clock, checks.views),
      inTime(clock, checks.objects),
      inTime(clock, checks.disk),
    ])
    if (log && views && objects && disk) {
      const events_behind = Math.max(0, log.value - views.value)
      const free_bytes = disk.value
      ctx.body = { status: 'ready', ...ALL_OK, events_behind, free_bytes } satisfies Readiness
      return
    }
    const failing = Object.entries({ log, views, objects, disk }).flatMap(([name, answer]) => (answer ? [] : [name]))
    throw new ApiError('unavailable', `Not ready: ${failing.join(', ')}.`)
  },
})

export const healthRoutes = [getHealth, getReadiness]

const ALL_OK = { log: 'ok', views: 'ok', objects: 'ok', disk: 'ok' } as const

/** Undefined if the check fails or takes too long. */
const inTime = <Value>(clock: Clock, check: () => Promise<Value>): Promise<{ value: Value } | undefined> =>
  withinTime(
    clock,
    check().then(
      value => ({ value }),
      () => undefined,
    ),
    CHECK_TIMEOUT_MS,
    () => undefined,
  )
