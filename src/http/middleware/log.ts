import { randomUUID } from 'node:crypto'
import type { Next } from 'koa'
import { REQUEST_ID } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { fromMicros } from '../../domain/money.ts'
import type { Logger } from '../../ports/logger.ts'
import type { RequestRecord } from '../../services/request-record.ts'
import type { ClientAddress } from '../connections/client-address.ts'
import { type Context, isRead } from '../context.ts'

/** Requests take milliseconds, without the waits for clients and runs. A commit to a busy disk takes a second. */
const SLOW_MS = 2_000

/**
 * Logs one line per request: at `debug` for successful reads, at `warn` for slow requests, else at `info`. Headers,
 * query and bodies are left out, since they may contain secrets and personal data.
 */
export const log = (logger: Logger, clientAddress: ClientAddress) => async (ctx: Context, next: Next) => {
  const startMs = performance.now()
  const record: RequestRecord = {}
  ctx.state.record = record
  await next()
  const { requestId, caller, auditor, tool } = ctx.state
  const { bodyMs, viewsMs, appendMs, runMs, run } = record
  const ms = performance.now() - startMs
  const isSlow = ms - (bodyMs ?? 0) - (runMs ?? 0) >= SLOW_MS && !dependsOnClient(ctx)
  const level = isSlow ? 'warn' : isRead(ctx) && ctx.status < 400 ? 'debug' : 'info'
  if (level !== 'warn' && !logger.isLevelEnabled(level)) return
  const facts = {
    requestId,
    method: ctx.method,
    path: pathOf(ctx),
    status: ctx.status,
    ms: rounded(ms),
    client: clientAddress(ctx.req),
    accountId: caller?.accountId,
    keyId: caller?.kind === 'key' ? caller.keyId : undefined,
    auditorId: auditor?.auditorId,
    tool,
    ...(run && { runId: run.runId, model: run.model, credits: creditsOf(run) }),
    ...(isSlow && timesIn({ bodyMs, viewsMs, appendMs, runMs })),
  }
  logger[level](facts, isSlow ? 'slow request' : 'request')
}

/** An upload takes as long as the client's connection, and a stream as long as the client wants. */
const dependsOnClient = (ctx: Context) =>
  ctx.type === 'text/event-stream' || (ctx.method !== 'GET' && ctx.is('json', 'urlencoded') === false)

const rounded = (ms: number) => Math.round(ms * 1000) / 1000

/** The parts that the request had. Other work of the service took the rest. */
const timesIn = (times: Record<string, number | undefined>) =>
  Object.fromEntries(Object.entries(times).flatMap(([name, ms]) => (ms === undefined ? [] : [[name, rounded(ms)]])))

const creditsOf = ({ chargedMicros, releasedMicros = 0, refundedMicros = 0 }: RunRow) =>
  fromMicros(chargedMicros - releasedMicros - refundedMicros)

/** The path without the query. It is not parsed, so that malformed targets are logged too. */
const pathOf = (ctx: Context) => ctx.url.split('?', 1)[0]

const WELL_FORMED = new RegExp(`^${REQUEST_ID}$`)

/** Sets the request id: the client's own if it is well formed, so that both sides' logs can be joined. */
export const requestId = (ctx: Context, next: Next) => {
  const given = ctx.get('X-Request-Id')
  ctx.state.requestId = WELL_FORMED.test(given) ? given : randomUUID()
  ctx.res.setHeader('X-Request-Id', ctx.state.requestId)
  return next()
}
