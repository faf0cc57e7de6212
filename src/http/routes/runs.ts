import * as examples from '../../../schemas/api/examples.ts'
import {
  IdempotencyKey,
  IdempotentReplayed,
  Location,
  Prefer,
  PreferenceApplied,
  RetryAfter,
} from '../../../schemas/api/headers.ts'
import { Run, RunAddress, RunList, RunOrQuote, RunQuery, RunRequest, RunsQuery } from '../../../schemas/api/run.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { Presenter } from '../../services/runs/present.ts'
import type { Quotes } from '../../services/runs/quotes.ts'
import type { RunReads } from '../../services/runs/run-reads.ts'
import type { Runs } from '../../services/runs/runs.ts'
import { askerOf, type Context } from '../context.ts'
import { goneSignal } from '../gone.ts'
import { idempotencyKey, preferredWaitMs } from '../headers.ts'
import { operation, type Serve } from '../operation.ts'
import { limitOf, showPage } from '../page.ts'

/** When a client should look again after a 202, as the contract recommends. */
const POLL_SECONDS = '10'

const onItsWay = {
  description: 'The run goes on. Look again at `Location` after `Retry-After` seconds, or give a `webhook_url`.',
  shape: Run,
  examples: { 'A film that is being made': examples.filmOnItsWay },
  headers: { Location, 'Retry-After': RetryAfter },
}

/** What answers that a run's own headers ask for. */
const toItsHeaders = {
  'Idempotent-Replayed': IdempotentReplayed,
  'Preference-Applied': PreferenceApplied,
}

const runModel = operation({
  id: 'runModel',
  method: 'post',
  path: '/v1/run',
  tag: 'Runs',
  summary: 'Run a model',
  description:
    'Images, short text and speech are answered with their result, if they take no longer than a minute; video and music go on, and are looked at later. The credits are debited when the run is accepted, and given back in full when it fails. With `dry_run=true` nothing is run or charged: the answer is what it would cost.',
  query: RunQuery,
  headers: { 'Idempotency-Key': IdempotencyKey, Prefer },
  json: RunRequest,
  examples: {
    'A picture': examples.pictureRequest,
    'A picture of yours, changed': examples.editRequest,
    'A film, and whom to tell of it': examples.filmRequest,
  },
  answers: {
    200: {
      description: 'The run has ended; or the quote that a dry run asks for.',
      shape: RunOrQuote,
      examples: {
        'A picture': examples.picture,
        'A text': examples.text,
        'A failed run': examples.failed,
        'What a run would cost': examples.quote,
      },
      headers: toItsHeaders,
    },
    202: { ...onItsWay, headers: { ...onItsWay.headers, ...toItsHeaders } },
  },
  errors: ['invalid_input', 'insufficient_credits', 'model_not_found', 'idempotency_mismatch'],
})

const getRun = operation({
  id: 'getRun',
  method: 'get',
  path: '/v1/runs/:id',
  tag: 'Runs',
  summary: 'How far a run is, and its result',
  params: { id: RunAddress },
  answers: {
    200: {
      description: 'The run.',
      shape: Run,
      examples: {
        'A film that is being made': examples.filmOnItsWay,
        'A picture': examples.picture,
        'A failed run': examples.failed,
      },
    },
  },
  errors: ['run_not_found'],
})

const cancelRun = operation({
  id: 'cancelRun',
  method: 'post',
  path: '/v1/runs/:id/cancel',
  tag: 'Runs',
  summary: 'Give a run up',
  description: 'A run that could be stopped has failed as `cancelled`, and its credits are given back.',
  params: { id: RunAddress },
  headers: { Prefer },
  answers: {
    200: { description: 'The run has ended.', shape: Run, examples: { 'A cancelled run': examples.cancelled } },
    202: { ...onItsWay, description: 'The run is still being worked on; its provider was asked to stop.' },
  },
  errors: ['run_not_found', 'run_ended'],
})

const listRuns = operation({
  id: 'listRuns',
  method: 'get',
  path: '/v1/runs',
  tag: 'Runs',
  summary: 'The runs of the account, the newest first',
  query: RunsQuery,
  answers: {
    200: { description: 'A page of them.', shape: RunList, examples: { 'The first page': examples.runList } },
  },
})

export const runOperations = [runModel, getRun, cancelRun, listRuns]

export interface RunRoutesParts {
  runs: Runs
  runReads: RunReads
  quotes: Quotes
  present: Presenter
}

export const runRoutes = (serve: Serve, { runs, runReads, quotes, present }: RunRoutesParts) => {
  serve(runModel, async (ctx, { query, json: request }) => {
    const asker = askerOf(ctx)
    if (query.dry_run === 'true') {
      const { receipt } = await quotes.quote(asker, request)
      ctx.body = present.quote(receipt)
      return
    }
    const waitMs = preferredWaitMs(ctx)
    const options = { idempotencyKey: idempotencyKey(ctx), waitMs, gone: () => goneSignal(ctx) }
    const { row, replayed } = await runs.run(asker, request, options)
    if (replayed) ctx.set('Idempotent-Replayed', 'true')
    if (waitMs !== undefined) ctx.set('Preference-Applied', `wait=${waitMs / 1000}`)
    answerRun(ctx, row, present)
  })

  serve(getRun, async (ctx, { params: { id } }) => {
    ctx.body = present.run(await runReads.find(ctx.state.account.accountId, id))
  })

  serve(cancelRun, async (ctx, { params: { id } }) => {
    const options = { waitMs: preferredWaitMs(ctx), gone: () => goneSignal(ctx) }
    answerRun(ctx, await runs.cancel(askerOf(ctx), id, options), present)
  })

  serve(listRuns, async (ctx, { query }) => {
    const page = await runReads.list(ctx.state.account.accountId, { ...query, limit: limitOf(query) })
    ctx.body = showPage(page, row => present.run(row)) satisfies RunList
  })
}

const answerRun = (ctx: Context, row: RunRow, present: Presenter) => {
  if (row.status === 'queued' || row.status === 'processing') {
    ctx.status = 202
    ctx.set('Location', `/v1/runs/${row.runId}`)
    ctx.set('Retry-After', POLL_SECONDS)
  }
  ctx.body = present.run(row)
}
