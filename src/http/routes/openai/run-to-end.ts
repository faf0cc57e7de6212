import { hasEnded } from '../../../../projections/runs.ts'
import type { RunOutput } from '../../../../schemas/account-events.ts'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { RunRow } from '../../../../schemas/views.ts'
import { fromMicros } from '../../../domain/money.ts'
import type { RunResult, Spender, StreamedRun } from '../../../services/runs/runs.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { idempotencyKey } from '../../answers/headers.ts'
import { answerText, type TextFrames } from '../../answers/text-stream.ts'
import { cancelWhen, disconnectSignal } from '../../connections/disconnect.ts'
import type { Context } from '../../context.ts'
import type { RouteDependencies } from '../../dependencies.ts'
import { refuseRetries } from './errors.ts'

/** OpenAI's clients wait as long for an answer. No run of their models takes longer, unless it waits to start. */
const MAX_WAIT_MS = 600_000

/** A completed run. */
export interface CompletedRun extends RunRow {
  output: RunOutput
}

/** Runs a model, and resolves when the run has completed. Throws ApiError for a run that has failed. */
export const runToEnd = async (
  ctx: Context,
  { runs, untaken }: Pick<RouteDependencies, 'runs' | 'untaken'>,
  spender: Spender,
  request: RunRequest,
): Promise<CompletedRun> => {
  const ownKey = idempotencyKey(ctx)
  const begun = ownKey === undefined ? await untaken.begin(ctx) : undefined
  const options = {
    spender,
    idempotencyKey: ownKey ?? begun?.idempotencyKey,
    attachments: ctx.state.attachments,
    waitMs: MAX_WAIT_MS,
    disconnected: () => disconnectSignal(ctx),
  }
  const created = await runs.createRun(ctx.state.caller, request, options).finally(() => begun && untaken.rest(begun))
  // If it is unknown whether there is a run, or how it ends, a repetition finds out.
  if (begun && ('refuse' in created || hasEnded(created.value.row))) untaken.answer(ctx, begun)
  const { row } = nameRun(ctx, unwrap(created))
  const { status, output } = row
  if (isGone(row)) throw notKept(ctx, row)
  if (status === 'completed' && output) return { ...row, output }
  throw failureOf(ctx, row)
}

/** Runs a text model, and answers with its text as it arrives. Throws ApiError for a run that fails before that. */
export const streamToEnd = async (
  ctx: Context,
  { runs, untaken, streams, clock }: Pick<RouteDependencies, 'runs' | 'untaken' | 'streams' | 'clock'>,
  spender: Spender,
  request: RunRequest,
  framesOf: (run: StreamedRun) => TextFrames,
): Promise<void> => {
  streams.open(ctx)
  const { caller, attachments } = ctx.state
  const ownKey = idempotencyKey(ctx)
  const begun = ownKey === undefined ? await untaken.begin(ctx) : undefined
  const created = await runs
    .streamRun(caller, request, { spender, idempotencyKey: ownKey ?? begun?.idempotencyKey, attachments })
    .finally(() => begun && untaken.rest(begun))
  if (begun && 'refuse' in created) untaken.answer(ctx, begun)
  const run = nameRun(ctx, unwrap(created))
  if (isGone(run.row)) throw notKept(ctx, run.row)
  const signal = disconnectSignal(ctx)
  if (begun)
    cancelWhen(signal, () => {
      // A repetition must not get the end of a run that was cut off.
      untaken.end(begun)
      return runs.cancelRun(caller, run.row.runId, { waitMs: 0 })
    })
  const failed = await answerText(ctx, clock, run, framesOf(run), signal)
  if (begun) untaken.answer(ctx, begun)
  if (failed) throw failureOf(ctx, failed)
}

const nameRun = <Result extends RunResult>(ctx: Context, result: Result): Result => {
  ctx.set('Tollgate-Run', result.row.runId)
  if (result.replayed) ctx.set('Idempotent-Replayed', 'true')
  return result
}

/** Whether the result of a completed run was not kept, and came in an earlier response. */
const isGone = ({ status, store, output }: RunRow): boolean =>
  status === 'completed' &&
  store === false &&
  output?.text === undefined &&
  !output?.toolCalls &&
  output?.artifacts.length === 0

const notKept = (ctx: Context, { runId }: RunRow): ApiError => {
  refuseRetries(ctx)
  return new ApiError('not_found', `The run ${runId} has completed, and its answer was not kept.`)
}

/** The error of a run that has not completed. */
const failureOf = (ctx: Context, { runId, error }: RunRow): ApiError => {
  if (!error)
    return new ApiError(
      'unavailable',
      `The run has not ended yet. GET /v1/runs/${runId} shows its result.`,
      {},
      { part: 'provider' },
    )
  // A repetition without the client's own key is a new run.
  if (idempotencyKey(ctx) !== undefined) refuseRetries(ctx)
  return new ApiError(error.code, error.message)
}

/** What the run has cost, beside the quantities that OpenAI's answers name. */
export const costOf = ({ runId, chargedMicros, releasedMicros = 0, refundedMicros = 0 }: RunRow) => ({
  credits: fromMicros(chargedMicros - releasedMicros - refundedMicros),
  run_id: runId,
})

/** When the run was accepted, in seconds. */
export const createdOf = ({ createdAt }: RunRow): number => Math.floor(Date.parse(createdAt) / 1000)
