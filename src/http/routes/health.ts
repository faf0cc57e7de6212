import { health, readiness } from '../../../schemas/api/examples.ts'
import { Health, Readiness } from '../../../schemas/api/health.ts'
import type { Clock } from '../../ports/clock.ts'
import { withinTime } from '../../time/within-time.ts'
import { ApiError } from '../api-error.ts'
import { operation, type Serve } from '../operation.ts'

/** How long a store may take to answer before it counts as unavailable. */
const CHECK_TIMEOUT_MS = 2000

/** The parts of the service that must answer, each with its check. */
export type HealthChecks = Record<string, () => Promise<unknown>>

const getHealth = operation({
  id: 'getHealth',
  method: 'get',
  path: '/healthz',
  tag: 'Service',
  summary: 'Check that the process is alive',
  open: true,
  responses: { 200: { description: 'The process is alive.', shape: Health, examples: { Alive: health } } },
})

const getReadiness = operation({
  id: 'getReadiness',
  method: 'get',
  path: '/readyz',
  tag: 'Service',
  summary: 'Check that the event log, the views and the object store respond',
  open: true,
  responses: {
    200: { description: 'All of them respond.', shape: Readiness, examples: { Ready: readiness } },
  },
})

export const healthOperations = [getHealth, getReadiness]

export const healthRoutes = (serve: Serve, checks: HealthChecks, clock: Clock) => {
  serve(getHealth, ctx => {
    ctx.body = { status: 'ok' } satisfies Health
  })

  serve(getReadiness, async ctx => {
    const names = Object.keys(checks)
    const answers = await Promise.all(Object.values(checks).map(check => answersInTime(clock, check)))
    const silent = names.filter((_, index) => !answers[index])
    if (silent.length > 0) throw new ApiError('unavailable', `No answer from: ${silent.join(', ')}.`)
    ctx.body = { status: 'ready', ...Object.fromEntries(names.map(name => [name, 'ok'])) } as Readiness
  })
}

const answersInTime = (clock: Clock, check: () => Promise<unknown>): Promise<boolean> =>
  withinTime(
    clock,
    check().then(
      () => true,
      () => false,
    ),
    CHECK_TIMEOUT_MS,
    () => false,
  )
