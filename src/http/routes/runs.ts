import type Router from '@koa/router'
import { type Quote, type RunList, RunQuery, RunRequest, RunsQuery } from '../../../schemas/api/run.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { fromMicros } from '../../domain/money.ts'
import { listNewest } from '../../engine/list-newest.ts'
import type { Presenter } from '../../engine/present.ts'
import type { Quotes } from '../../engine/quotes.ts'
import type { Reads } from '../../engine/reads.ts'
import type { Runs } from '../../engine/runs.ts'
import { askerOf, type Context, type Middleware, type RequestState } from '../context.ts'
import { goneSignal } from '../gone.ts'
import { idempotencyKey, preferredWaitMs } from '../headers.ts'
import { jsonBody } from '../middleware/json-body.ts'
import { limitOf, showPage } from '../page.ts'
import { noSuchRun, runIdOf } from '../run-id.ts'
import { readerOf } from '../validate.ts'

/** When a client should look again after a 202, as the contract recommends. */
const POLL_SECONDS = '10'

const runRequest = readerOf(RunRequest, 'body')
const runQuery = readerOf(RunQuery, 'query')
const runsQuery = readerOf(RunsQuery, 'query')

export const runRoutes = (
  router: Router<RequestState>,
  keyed: Middleware,
  runs: Runs,
  quotes: Quotes,
  reads: Reads,
  present: Presenter,
) => {
  router.post('/v1/run', keyed, jsonBody, async ctx => {
    const { dry_run } = runQuery(ctx.query)
    const request = runRequest(ctx.request.body)
    const asker = askerOf(ctx)
    if (dry_run === 'true') {
      const { receipt } = await quotes.quote(asker, request)
      const { model, endpoint, totalMicros, lines } = receipt
      ctx.body = {
        object: 'quote',
        model,
        endpoint,
        credits: fromMicros(totalMicros),
        lines: lines.map(line => present.line(line)),
      } satisfies Quote
      return
    }
    const waitMs = preferredWaitMs(ctx)
    const options = { idempotencyKey: idempotencyKey(ctx), waitMs, gone: () => goneSignal(ctx) }
    const { row, replayed } = await runs.run(asker, request, options)
    if (replayed) ctx.set('Idempotent-Replayed', 'true')
    if (waitMs !== undefined) ctx.set('Preference-Applied', `wait=${waitMs / 1000}`)
    answerRun(ctx, row, present)
  })

  router.get('/v1/runs/:id', keyed, async ctx => {
    const row = await runs.find(ctx.state.account.accountId, runIdOf(ctx))
    if (!row) throw noSuchRun()
    ctx.body = present.run(row)
  })

  router.post('/v1/runs/:id/cancel', keyed, async ctx => {
    const options = { waitMs: preferredWaitMs(ctx), gone: () => goneSignal(ctx) }
    const row = await runs.cancel(askerOf(ctx), runIdOf(ctx), options)
    if (!row) throw noSuchRun()
    answerRun(ctx, row, present)
  })

  router.get('/v1/runs', keyed, async ctx => {
    const query = runsQuery(ctx.query)
    const { cursor, status, model } = query
    const page = await listNewest(reads, 'runs', ctx.state.account.accountId, {
      limit: limitOf(query),
      cursor,
      matches: row => (!status || row.status === status) && (!model || row.model === model),
    })
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
