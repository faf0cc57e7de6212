import type Router from '@koa/router'
import { runKey } from '../../../projections/runs.ts'
import { type Quote, type RunList, RunQuery, RunRequest, RunsQuery } from '../../../schemas/api/run.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { fromMicros } from '../../domain/money.ts'
import { ApiError } from '../../engine/api-error.ts'
import { parseRunId } from '../../engine/ids.ts'
import type { Quotes } from '../../engine/quotes.ts'
import type { Reads } from '../../engine/reads.ts'
import type { Runs } from '../../engine/runs.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { Context, Middleware, RequestState } from '../context.ts'
import { idempotencyKey, preferredWaitMs } from '../headers.ts'
import { jsonBody } from '../middleware/json-body.ts'
import type { Presenter } from '../present.ts'
import { readerOf } from '../validate.ts'

/** When a client should look again after a 202, as the contract recommends. */
const POLL_SECONDS = '10'

/** A page that fits on a screen. */
const DEFAULT_LIMIT = 20

/** Rows looked at for one page of a filtered list, so that a rare status cannot make a request read a whole history. */
const MAX_SCANNED = 2000
/** The largest limit, and the one row more that shows that there is more. */
const SCAN_PAGE = 101

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
    const asker = { ...ctx.state.account, requestId: ctx.state.requestId }
    if (dry_run === 'true') {
      const { receipt } = await quotes.quote(asker.accountId, request)
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
    const runId = parseRunId(String(ctx.params['id']))
    const row = runId && (await runs.find(ctx.state.account.accountId, runId))
    if (!row) throw new ApiError('run_not_found', 'There is no such run.')
    ctx.body = present.run(row)
  })

  router.get('/v1/runs', keyed, async ctx => {
    const { limit = DEFAULT_LIMIT, cursor, status, model } = runsQuery(ctx.query)
    const { accountId } = ctx.state.account
    await reads.ownWrites(accountId)
    const matches = (row: RunRow) => (!status || row.status === status) && (!model || row.model === model)
    const { found, next } = await findPage(reads, accountId, cursor, Number(limit), matches)
    ctx.body = {
      object: 'list',
      data: found.map(row => present.run(row)),
      has_more: next !== null,
      next_cursor: next,
    } satisfies RunList
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

/** A page of matching runs, the newest first. `next` is where the following page goes on, or null at the end. */
const findPage = async (
  reads: Reads,
  accountId: AccountId,
  cursor: RunId | undefined,
  limit: number,
  matches: (row: RunRow) => boolean,
): Promise<{ found: RunRow[]; next: RunId | null }> => {
  const prefix = runKey(accountId, '')
  const found: RunRow[] = []
  let last = cursor
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN_PAGE) {
    const after = last && runKey(accountId, last)
    const entries = await reads.list('runs', BY_KEY, { prefix, after, newestFirst: true, limit: SCAN_PAGE })
    for (const { row } of entries) {
      last = row.runId
      if (!matches(row)) continue
      // One more than asked for shows that there is more.
      if (found.length === limit) return { found, next: found.at(-1)?.runId ?? null }
      found.push(row)
    }
    if (entries.length < SCAN_PAGE) return { found, next: null }
  }
  return { found, next: last ?? null }
}

/** Aborts when the client has hung up, so that nobody waits for it. */
const goneSignal = (ctx: Context): AbortSignal => {
  const gone = new AbortController()
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) gone.abort()
  })
  return gone.signal
}
