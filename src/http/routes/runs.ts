import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import {
  IdempotencyKey,
  IdempotentReplayed,
  Location,
  Prefer,
  PreferenceApplied,
  RetryAfter,
} from '../../../schemas/api/headers.ts'
import {
  Run,
  RunAddress,
  RunEvents,
  RunList,
  RunOrQuote,
  RunQuery,
  RunRequest,
  RunsQuery,
} from '../../../schemas/api/run.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { showPage } from '../../transports/list-page.ts'
import { unwrap } from '../../transports/refusals.ts'
import { runsQueryOf } from '../../transports/runs-query.ts'
import { idempotencyKey, type WaitPreference, waitPreference } from '../answers/headers.ts'
import { asksForStream } from '../answers/streams.ts'
import { answerText, frame, type TextFrames } from '../answers/text-stream.ts'
import { cancelWhen, disconnectSignal, waitingClient } from '../connections/disconnect.ts'
import type { Context } from '../context.ts'
import type { RouteDependencies } from '../dependencies.ts'
import { route } from '../route.ts'

/** The polling interval after a 202, as the specification recommends. */
const POLL_SECONDS = '10'

const unfinishedRun = {
  description: 'The run continues. Poll `Location` every `Retry-After` seconds, or send a `webhook_url` with the run.',
  shape: Run,
  examples: { 'Processing video': examples.runs.processing },
  headers: { Location, 'Retry-After': RetryAfter },
}

/** The response headers for `Idempotency-Key` and `Prefer`. */
const runHeaders = {
  'Idempotent-Replayed': IdempotentReplayed,
  'Preference-Applied': PreferenceApplied,
}

const runModel = route({
  id: 'runModel',
  method: 'post',
  path: '/v1/run',
  tag: 'Runs',
  summary: 'Run a model',
  description: [
    'The response to a run of images, short text or speech has the result, if it takes at most a minute.',
    'The response to a run of video or music is 202: poll the run for its result.',
    'Text models stream their answer with `stream: true`. A client that leaves such a stream cancels the run,',
    'unless it sent an `Idempotency-Key` or `Prefer: respond-async`.',
    'Credits are debited when the run is accepted, and refunded in full if it fails.',
    'For text, the debit is the most that the run can cost, and the rest is released when the run completes.',
    '`dry_run=true` returns the price without running or charging anything.',
    'With a test key, the sandbox does the run, and nothing is charged.',
  ].join(' '),
  auth: 'key or session',
  query: RunQuery,
  headers: { 'Idempotency-Key': IdempotencyKey, Prefer },
  json: RunRequest,
  isLong: true,
  examples: {
    Image: examples.requests.image,
    'Edit of your own image': examples.requests.edit,
    'Conversation with a tool': examples.requests.conversation,
    'Video with a webhook': examples.requests.video,
  },
  responses: {
    200: {
      description: 'The ended run, or the quote of a dry run; with `stream`, the text as server-sent events.',
      shape: RunOrQuote,
      content: { 'text/event-stream': RunEvents },
      examples: {
        'Completed image': examples.runs.image,
        'Completed text': examples.runs.text,
        'Test run': examples.runs.test,
        'Failed run': examples.runs.failed,
        Quote: examples.quote,
      },
      headers: runHeaders,
    },
    202: { ...unfinishedRun, headers: { ...unfinishedRun.headers, ...runHeaders } },
  },
  errors: [
    ...(['invalid_input', 'price_above_limit', 'budget_not_found', 'insufficient_credits', 'budget_exceeded'] as const),
    ...(['model_not_found', 'idempotency_mismatch'] as const),
  ],
  serve: async (ctx, dependencies, { query, json: request }) => {
    const { caller, attachments } = ctx.state
    const { runs, present } = dependencies
    if (query.dry_run) {
      ctx.body = present.quote(unwrap(await runs.quoteRun(caller, request, attachments)))
      return
    }
    const preference = waitPreference(ctx)
    if (request.stream || asksForStream(ctx)) {
      const isAnswered = await streamRun(ctx, dependencies, request, preference)
      if (isAnswered) return
    }
    const { waitMs } = preference
    const key = idempotencyKey(ctx)
    const options = {
      spender: 'runModel',
      idempotencyKey: key,
      attachments,
      waitMs,
      disconnected: () => disconnectSignal(ctx),
    } as const
    const { row, input, replayed } = unwrap(await runs.createRun(caller, request, options))
    if (replayed) ctx.set('Idempotent-Replayed', 'true')
    const shown = present.run(row, { input, warnings: unwrap(await runs.readWarnings(caller, row)) })
    answerRun(ctx, row, shown, preference)
  },
})

const getRun = route({
  id: 'getRun',
  method: 'get',
  path: '/v1/runs/:id',
  tag: 'Runs',
  summary: 'Get a run',
  description: 'Returns the current state of the run. Poll until `status` is `completed` or `failed`.',
  auth: 'key or session',
  params: { id: RunAddress },
  responses: {
    200: {
      description: 'The run.',
      shape: Run,
      examples: {
        'Processing video': examples.runs.processing,
        'Completed image': examples.runs.image,
        'Failed run': examples.runs.failed,
      },
    },
  },
  errors: ['run_not_found'],
  serve: async (ctx, dependencies, { params: { id } }) => {
    const row = unwrap(await dependencies.runs.findRun(ctx.state.caller, id))
    ctx.body = await inFull(dependencies, ctx, row)
  },
})

const cancelRun = route({
  id: 'cancelRun',
  method: 'post',
  path: '/v1/runs/:id/cancel',
  tag: 'Runs',
  summary: 'Cancel a run',
  description: 'A run that stops in time fails with the code `cancelled` and is refunded.',
  auth: 'key or session',
  params: { id: RunAddress },
  headers: { Prefer },
  responses: {
    200: {
      description: 'The run has ended.',
      shape: Run,
      examples: { 'Cancelled run': examples.runs.cancelled },
      headers: { 'Preference-Applied': PreferenceApplied },
    },
    202: {
      ...unfinishedRun,
      description: 'The run is still processing. The service has asked its provider to stop.',
      headers: { ...unfinishedRun.headers, 'Preference-Applied': PreferenceApplied },
    },
  },
  errors: ['run_not_found', 'run_ended'],
  serve: async (ctx, dependencies, { params: { id } }) => {
    const preference = waitPreference(ctx)
    const options = { waitMs: preference.waitMs, disconnected: () => disconnectSignal(ctx) }
    const row = unwrap(await dependencies.runs.cancelRun(ctx.state.caller, id, options))
    answerRun(ctx, row, await inFull(dependencies, ctx, row), preference)
  },
})

const listRuns = route({
  id: 'listRuns',
  method: 'get',
  path: '/v1/runs',
  tag: 'Runs',
  summary: 'List runs, newest first',
  description: [
    'Returns a page of the runs of the account. To get the next page, pass `next_cursor` as `cursor`.',
    'A page may be short or empty even if `has_more` is true, because a request searches a limited number of runs.',
  ].join(' '),
  auth: 'key or session',
  query: RunsQuery,
  responses: {
    200: { description: 'A page of runs.', shape: RunList, examples: { 'First page': examples.runList } },
  },
  serve: async (ctx, { runs, present }, { query }) => {
    const asked = [ctx.state.caller, runsQueryOf(query), waitingClient(ctx)] as const
    const page: RunList = query.include
      ? showPage(unwrap(await runs.listRunsWithInputs(...asked)), ({ row, input }) => present.run(row, { input }))
      : showPage(unwrap(await runs.listRuns(...asked)), row => present.run(row))
    ctx.body = page
  },
})

export const runRoutes = [runModel, getRun, cancelRun, listRuns]

const inFull = async ({ runs, present }: RouteDependencies, ctx: Context, row: RunRow): Promise<Run> => {
  const { caller } = ctx.state
  return present.run(row, {
    input: unwrap(await runs.readInput(caller, row)),
    warnings: unwrap(await runs.readWarnings(caller, row)),
  })
}

/**
 * Streams the text of a run. Resolves to false, and does nothing, if a client only accepts streams beside other types
 * and the model has none. A run that fails before there is any text is answered like any other.
 */
const streamRun = async (
  ctx: Context,
  { runs, present, streams, clock }: RouteDependencies,
  request: RunRequest,
  preference: WaitPreference,
): Promise<boolean> => {
  const { caller, attachments } = ctx.state
  streams.open(ctx)
  const key = idempotencyKey(ctx)
  const created = await runs.streamRun(caller, request, { spender: 'runModel', idempotencyKey: key, attachments })
  if (!request.stream && 'refuse' in created && created.refuse.code === 'stream_not_offered') return false
  const run = unwrap(created)
  if (run.replayed) ctx.set('Idempotent-Replayed', 'true')
  const signal = disconnectSignal(ctx)
  if (key === undefined && !preference.respondsAsync)
    cancelWhen(signal, () => runs.cancelRun(caller, run.row.runId, { waitMs: 0 }))
  const shown = (row: RunRow) => present.run(row, { input: run.input })
  const frames: TextFrames = {
    piece: text => frame({ text }, { event: 'delta' }),
    end: row => frame(shown(row), { event: 'run', id: row.revision }),
  }
  const failed = await answerText(ctx, clock, run, frames, signal)
  if (failed) ctx.body = shown(failed)
  return true
}

const answerRun = (ctx: Context, { status, runId, store }: RunRow, shown: Run, preference: WaitPreference) => {
  const isUnfinished = status === 'queued' || status === 'processing'
  // The response waits for the end of a run that is not kept.
  if (store !== false) applyPreference(ctx, preference, isUnfinished)
  if (isUnfinished) {
    ctx.status = 202
    ctx.set('Location', `/v1/runs/${runId}`)
    ctx.set('Retry-After', POLL_SECONDS)
  }
  ctx.body = shown
}

/** Names the preferences that had an effect. `respond-async` has an effect only if the run has not ended. */
const applyPreference = (ctx: Context, { waitMs, respondsAsync }: WaitPreference, isUnfinished: boolean) => {
  const isAsync = respondsAsync && isUnfinished
  const applied = [
    ...(isAsync ? ['respond-async'] : []),
    // With `respond-async`, `wait=0` adds nothing.
    ...(waitMs === undefined || (respondsAsync && waitMs === 0) ? [] : [`wait=${waitMs / 1000}`]),
  ]
  if (applied.length > 0) ctx.set('Preference-Applied', applied.join(', '))
}
