import type { RunId } from '../../schemas/primitives.ts'
import { ApiError } from '../engine/api-error.ts'
import { parseRunId } from '../engine/ids.ts'
import type { Context } from './context.ts'

/** The run that an address names. Throws run_not_found for what can be none. */
export const runIdOf = (ctx: Context & { params: Record<string, string> }): RunId => {
  const runId = parseRunId(String(ctx.params['id']))
  if (!runId) throw noSuchRun()
  return runId
}

/** The same for a run that is absent and for one of somebody else. */
export const noSuchRun = () => new ApiError('run_not_found', 'There is no such run.')
