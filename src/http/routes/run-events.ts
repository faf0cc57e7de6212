import { hasEnded } from '../../../projections/runs.ts'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { LastEventId } from '../../../schemas/api/headers.ts'
import { RunAddress, RunEvents } from '../../../schemas/api/run.ts'
import { MAX_STREAMS } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { Presenter } from '../../services/presenter.ts'
import { every } from '../../time/timers.ts'
import { unwrap } from '../../transports/refusals.ts'
import { COMMENT, frame, SILENCE_MS, STREAM_HEADERS } from '../answers/text-stream.ts'
import { disconnectSignal } from '../connections/disconnect.ts'
import { route } from '../route.ts'

const followRun = route({
  id: 'followRun',
  method: 'get',
  path: '/v1/runs/:id/events',
  tag: 'Runs',
  summary: 'Follow a run',
  description: [
    'Streams server-sent events until the run ends. `run` events hold the run: first its state, then each change.',
    '`progress` events hold its progress from 0 to 1, if the provider reports it.',
    `An account may have ${MAX_STREAMS} streams open at a time.`,
  ].join(' '),
  auth: 'key or session',
  params: { id: RunAddress },
  headers: { 'Last-Event-ID': LastEventId },
  responses: {
    200: {
      description: 'The stream of events.',
      shape: RunEvents,
      type: 'text/event-stream',
      examples: { 'A processing run that fails': examples.runEvents },
    },
    204: { description: 'The run has ended, and the client has received its last event.' },
  },
  errors: ['run_not_found'],
  serve: async (ctx, { runs, present, streams, clock }, { params: { id } }) => {
    const { row, changes, progress } = unwrap(await runs.followRun(ctx.state.caller, id))
    if (ctx.method === 'HEAD') {
      ctx.status = 200
      return
    }
    // The id of a `run` event is the revision of the change, so a client that reconnects gets only newer changes.
    let lastEventId = ctx.get('Last-Event-ID')
    if (hasEnded(row) && String(row.revision) === lastEventId) {
      // Browsers reconnect when a stream ends; a 204 stops them.
      ctx.status = 204
      return
    }
    streams.open(ctx)
    const disconnected = disconnectSignal(ctx)
    ctx.respond = false
    // Koa assumes 404 until the status is set.
    ctx.status = 200
    ctx.set(STREAM_HEADERS)
    ctx.flushHeaders()
    ctx.state.answerBegins?.()
    // The client may disconnect between two events.
    const write = (text: string) => !ctx.res.destroyed && ctx.res.write(text)
    const push = async (json: string, event: string) => {
      const id = lastEventId
      await ctx.state.nextTurn()
      write(frame(json, { event, id }))
    }
    const sent = progress.subscribe(share => push(JSON.stringify({ run_id: row.runId, progress: share }), 'progress'))
    sent.add(every(clock, SILENCE_MS, () => write(COMMENT)))
    try {
      await changes(disconnected).forEach(now => {
        if (String(now.revision) === lastEventId) return
        lastEventId = String(now.revision)
        push(jsonOf(present, now), 'run')
      })
    } finally {
      sent.unsubscribe()
      await ctx.state.nextTurn()
      ctx.res.end()
    }
  },
})

export const runEventRoutes = [followRun]

/** All followers of a run share its rows. */
const shown = new WeakMap<RunRow, string>()

const jsonOf = (present: Presenter, row: RunRow): string => {
  const json = shown.get(row) ?? JSON.stringify(present.run(row))
  shown.set(row, json)
  return json
}
