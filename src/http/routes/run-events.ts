import { createSession } from 'better-sse'
import { hasEnded } from '../../../projections/runs.ts'
import { runEvents } from '../../../schemas/api/examples.ts'
import { LastEventId } from '../../../schemas/api/headers.ts'
import { RunAddress, RunEvents } from '../../../schemas/api/run.ts'
import type { Presenter } from '../../services/runs/present.ts'
import type { RunReads } from '../../services/runs/run-reads.ts'
import { goneSignal } from '../gone.ts'
import { operation, type Serve } from '../operation.ts'

const followRun = operation({
  id: 'followRun',
  method: 'get',
  path: '/v1/runs/:id/events',
  tag: 'Runs',
  summary: 'The changes of a run as they happen',
  description:
    'Server-sent events until the run has ended: `run` events hold the run as it is then, `progress` events how far it is, from 0 to 1, where the provider says so.',
  params: { id: RunAddress },
  headers: { 'Last-Event-ID': LastEventId },
  answers: {
    200: {
      description: 'The events.',
      shape: RunEvents,
      type: 'text/event-stream',
      examples: { 'A run that is being worked on, and fails': runEvents },
    },
    204: { description: 'The run has ended, and its last event was seen.' },
  },
  errors: ['run_not_found'],
})

export const runEventOperations = [followRun]

/**
 * A run's changes as server-sent events, until it has ended. Each `run` event holds the run as it is then; its id is the
 * revision of what changed it, so that a client that comes back with `Last-Event-ID` is told only what is new. Between them,
 * `progress` events tell how far it is, where the provider says so.
 */
export const runEventRoutes = (serve: Serve, runReads: RunReads, present: Presenter) => {
  serve(followRun, async (ctx, { params: { id } }) => {
    const { accountId } = ctx.state.account
    const row = await runReads.find(accountId, id)
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
    const stopProgress = runReads.onProgress(row.runId, progress => push({ run_id: row.runId, progress }, 'progress'))
    try {
      for await (const now of runReads.changes(accountId, row.runId, gone)) {
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
