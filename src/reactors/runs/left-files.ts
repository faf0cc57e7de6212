import { WATCH_AFTER_MS } from '../../../projections/due.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ProviderOutcome } from '../../ports/provider.ts'
import { settledAtMs } from './result-limits.ts'

/** A run that ends. One that waits in the queue has not started. */
export type EndedRun = Pick<WatchTask, 'accountId' | 'runId' | 'mode' | 'endpoint' | 'timeoutMs'> &
  Partial<Pick<WatchTask, 'startedAt'>>

/** Other processes take over runs that started WATCH_AFTER_MS ago, by their own clocks. */
const OWN_FOR_MS = WATCH_AFTER_MS - 3_000

/** Whether another process may take over a run, or may have done so. */
export const mayBeTakenOver = ({ startedAt }: Pick<WatchTask, 'startedAt'>, clock: Clock): boolean =>
  Math.abs(clock.nowMs() - Date.parse(startedAt)) >= OWN_FOR_MS

/**
 * When the files of a run that fails with this outcome of its provider are deleted; undefined if it can have stored
 * none. That is so if it never started, and if its provider reports a failure of a run on which nobody else has worked.
 * A process that dies or is slow may leave files of a result that another one never sees.
 */
export const leftFilesUntil = (run: EndedRun, outcome: ProviderOutcome, clock: Clock): string | undefined => {
  const { mode, timeoutMs, startedAt } = run
  if (startedAt === undefined) return undefined
  const isOwn = mode === 'sync' || !mayBeTakenOver({ startedAt }, clock)
  if (outcome.kind === 'failed' && outcome.code !== 'interrupted' && isOwn) return undefined
  return new Date(settledAtMs({ startedAt, timeoutMs })).toISOString()
}
