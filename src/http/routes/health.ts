import { health, readiness } from '../../../schemas/api/examples.ts'
import { Health, Readiness } from '../../../schemas/api/health.ts'
import { ApiError } from '../../services/api-error.ts'
import { operation, type Serve } from '../operation.ts'

/** How long a store may take to answer before it counts as gone. */
const CHECK_TIMEOUT_MS = 2000

/** Each part of the service that must answer, with a way to ask it. */
export type HealthChecks = Record<string, () => Promise<unknown>>

const getHealth = operation({
  id: 'getHealth',
  method: 'get',
  path: '/healthz',
  tag: 'Service',
  summary: 'Whether the process lives',
  open: true,
  answers: { 200: { description: 'It lives.', shape: Health, examples: { 'It lives': health } } },
})

const getReadiness = operation({
  id: 'getReadiness',
  method: 'get',
  path: '/readyz',
  tag: 'Service',
  summary: 'Whether the event log, the views and the object store answer',
  open: true,
  answers: {
    200: { description: 'All of them do.', shape: Readiness, examples: { 'All of them do': readiness } },
  },
})

export const healthOperations = [getHealth, getReadiness]

export const healthRoutes = (serve: Serve, checks: HealthChecks) => {
  serve(getHealth, ctx => {
    ctx.body = { status: 'ok' } satisfies Health
  })

  serve(getReadiness, async ctx => {
    const names = Object.keys(checks)
    const answers = await Promise.all(Object.values(checks).map(answersInTime))
    const silent = names.filter((_, index) => !answers[index])
    if (silent.length > 0) throw new ApiError('unavailable', `No answer from: ${silent.join(', ')}.`)
    ctx.body = { status: 'ready', ...Object.fromEntries(names.map(name => [name, 'ok'])) } as Readiness
  })
}

const answersInTime = async (check: () => Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<boolean>(resolve => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS)
  })
  const answered = check().then(
    () => true,
    () => false,
  )
  return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer))
}
