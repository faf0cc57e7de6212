import { hasEnded } from '../../../../projections/runs.ts'
import type { RunOutput } from '../../../../schemas/account-events.ts'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { Endpoint, Family } from '../../../../schemas/catalog.ts'
import type { RunRow } from '../../../../schemas/views.ts'
import { chooseEndpoint } from '../../../domain/catalog/inputs.ts'
import { fromMicros } from '../../../domain/money.ts'
import type { Offer } from '../../../services/catalog/offers.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { placeFault } from '../../../transports/moment.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { idempotencyKey } from '../../answers/headers.ts'
import { disconnectSignal } from '../../connections/disconnect.ts'
import type { Context } from '../../context.ts'
import type { RouteDependencies } from '../../dependencies.ts'
import { refuseRetries } from './errors.ts'

/** OpenAI's clients wait as long for an answer. No run of their models takes longer, unless it waits to start. */
const MAX_WAIT_MS = 600_000

/** A completed run. */
export interface CompletedRun extends RunRow {
  output: RunOutput
}

export interface Ended {
  row: CompletedRun
  /** Undefined while the log is unavailable. */
  input: Record<string, unknown> | undefined
}

/** The endpoint that a model's name means for an input without files. Throws for a model with other output. */
export const endpointOf = async (
  ctx: Context,
  { catalog }: Pick<RouteDependencies, 'catalog'>,
  model: string,
  outputType: Family['outputType'],
): Promise<Endpoint> => {
  const [offer] = unwrap(await catalog.list(ctx.state.caller, { model }))
  const { family } = offer as Offer
  if (family.outputType !== outputType)
    throw placeFault('model', `must be a model with the output_type ${outputType}, not ${family.outputType}`, 'body')
  const endpoint = chooseEndpoint(family, model, {})
  if (endpoint) return endpoint
  throw placeFault('model', 'must be a model that needs no file', 'body')
}

/** Runs a model, and resolves when the run has completed. Throws ApiError for a run that has failed. */
export const runToEnd = async (
  ctx: Context,
  { runs, untaken }: Pick<RouteDependencies, 'runs' | 'untaken'>,
  request: RunRequest,
): Promise<Ended> => {
  const ownKey = idempotencyKey(ctx)
  const begun = ownKey === undefined ? untaken.begin(ctx) : undefined
  const options = { waitMs: MAX_WAIT_MS, disconnected: () => disconnectSignal(ctx) }
  const created = await runs.createRun(ctx.state.caller, request, {
    ...options,
    idempotencyKey: ownKey ?? begun?.idempotencyKey,
  })
  // If it is unknown whether there is a run, or how it ends, a repetition finds out.
  if (begun && ('refuse' in created || hasEnded(created.value.row))) untaken.end(ctx, begun)
  const { row, input, replayed } = unwrap(created)
  ctx.set('Tollgate-Run', row.runId)
  if (replayed) ctx.set('Idempotent-Replayed', 'true')
  const { status, error, output } = row
  if (status === 'completed' && output) return { row: { ...row, output }, input }
  if (!error)
    throw new ApiError('unavailable', `The run has not ended yet. GET /v1/runs/${row.runId} shows its result.`)
  // A repetition without the client's own key is a new run.
  if (ownKey !== undefined) refuseRetries(ctx)
  throw new ApiError(error.code, error.message)
}

/** What the run has cost, beside the quantities that OpenAI's answers name. */
export const costOf = ({ runId, chargedMicros, releasedMicros = 0, refundedMicros = 0 }: RunRow) => ({
  credits: fromMicros(chargedMicros - releasedMicros - refundedMicros),
  run_id: runId,
})

/** When the run was accepted, in seconds. */
export const createdOf = ({ createdAt }: RunRow): number => Math.floor(Date.parse(createdAt) / 1000)
