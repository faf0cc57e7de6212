import { createSession } from 'better-sse'
import { hasEnded } from '../../../projections/runs.ts'
import { runEvents } from '../../../schemas/api/examples.ts'
import { LastEventId } from '../../../schemas/api/headers.ts'
import { RunAddress, RunEvents } from '../../../schemas/api/run.ts'
import type { Presenter } from '../../services/presenter.ts'
import type { Services } from '../../services/services.ts'
import { disconnectSignal } from '../disconnect.ts'
import { operation, type Serve } from '../operation.ts'
import { unwrap } from '../refusals.ts'

const followRun = operation({
  id: 'followRun',
  method: 'get',
  path: '/v1/runs/:id/events',
  tag: 'Runs',
  summary: 'Follow a run',
  description: [
    'Streams server-sent events until the run ends. `run` events hold the run: first as it is, then after each change.',
    '`progress` events hold its progress from 0 to 1, if the provider reports it.',
  ].join(' '),
  params: { id: RunAddress },
  headers: { 'Last-Event-ID': LastEventId },
  responses: {
    200: {
      description: 'The stream of events.',
      shape: RunEvents,
      type: 'text/event-stream',
      examples: { 'A processing run that fails': runEvents },
    },
    204: { description: 'The run has ended, and the client has received its last event.' },
  },
  errors: ['run_not_found'],
})

export const runEventOperations = [followRun]

/** The id of a `run` event is the revision of the change, so a client that reconnects receives only newer changes. */
export const runEventRoutes = (serve: Serve, { runs }: Services, present: Presenter) => {
  serve(followRun, async (ctx, { params: { id } }) => {
    const { row, changes, onProgress } = unwrap(await runs.follow(ctx.state.caller, id))
    if (ctx.method === 'HEAD') {
      ctx.status = 200
      return
    }
    let lastEventId = ctx.get('Last-Event-ID')
    if (hasEnded(row) && String(row.revision) === lastEventId) {
      // Browsers reconnect when a stream ends; a 204 stops them.
      ctx.status = 204
      return
    }
    const disconnected = disconnectSignal(ctx)
    ctx.respond = false
    // Koa assumes 404 until the status is set.
    ctx.status = 200
    const session = await createSession(ctx.req, ctx.res)
    const push = (data: object, name: string) => {
      // A client may disconnect between two events.
      if (session.isConnected) session.push(data, name, lastEventId)
    }
    const stopProgress = onProgress(progress => push({ run_id: row.runId, progress }, 'progress'))
    try {
      for await (const now of changes(disconnected)) {
        if (String(now.revision) === lastEventId) continue
        lastEventId = String(now.revision)
        push(present.run(now), 'run')
      }
    } finally {
      stopProgress()
      ctx.res.end()
    }
  })
}
