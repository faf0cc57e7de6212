import type Router from '@koa/router'
import { createSession } from 'better-sse'
import { hasEnded } from '../../../projections/runs.ts'
import type { Presenter } from '../../engine/present.ts'
import type { Runs } from '../../engine/runs.ts'
import type { Middleware, RequestState } from '../context.ts'
import { goneSignal } from '../gone.ts'
import { noSuchRun, runIdOf } from '../run-id.ts'

/**
 * A run's changes as server-sent events, until it has ended. Each `run` event holds the run as it is then; its id is the
 * revision of what changed it, so that a client that comes back with `Last-Event-ID` is told only what is new. Between them,
 * `progress` events tell how far it is, where the provider says so.
 */
export const runEventRoutes = (router: Router<RequestState>, keyed: Middleware, runs: Runs, present: Presenter) => {
  router.get('/v1/runs/:id/events', keyed, async ctx => {
    const { accountId } = ctx.state.account
    const row = await runs.find(accountId, runIdOf(ctx))
    if (!row) throw noSuchRun()
    if (ctx.method === 'HEAD') {
      ctx.status = 200
      return
    }
    let told = ctx.get('Last-Event-ID')
    if (hasEnded(row) && String(row.revision) === told) {
      // A browser comes back whenever a stream ends; this tells it that there is nothing more.
      ctx.status = 204
      return
    }
    const gone = goneSignal(ctx)
    ctx.respond = false
    // Koa takes a request for unanswered until it is told otherwise.
    ctx.status = 200
    const session = await createSession(ctx.req, ctx.res)
    const push = (data: object, name: string) => {
      // A client that has hung up between two events is no fault.
      if (session.isConnected) session.push(data, name, told)
    }
    const stopProgress = runs.onProgress(row.runId, progress => push({ run_id: row.runId, progress }, 'progress'))
    try {
      for await (const now of runs.changes(accountId, row.runId, gone)) {
        if (String(now.revision) === told) continue
        told = String(now.revision)
        push(present.run(now), 'run')
      }
    } finally {
      stopProgress()
      ctx.res.end()
    }
  })
}
