import type Router from '@koa/router'
import { ApiError } from '../../engine/api-error.ts'
import type { RequestState } from '../context.ts'

/** How long a store may take to answer before it counts as gone. */
const CHECK_TIMEOUT_MS = 2000

/** Each part of the service that must answer, with a way to ask it. */
export type HealthChecks = Record<string, () => Promise<unknown>>

export const healthRoutes = (router: Router<RequestState>, checks: HealthChecks) => {
  router.get('/healthz', ctx => {
    ctx.body = { status: 'ok' }
  })

  router.get('/readyz', async ctx => {
    const names = Object.keys(checks)
    const answers = await Promise.all(Object.values(checks).map(answersInTime))
    const silent = names.filter((_, index) => !answers[index])
    if (silent.length > 0) throw new ApiError('unavailable', `No answer from: ${silent.join(', ')}.`)
    ctx.body = { status: 'ready', ...Object.fromEntries(names.map(name => [name, 'ok'])) }
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
