import type { ProviderCost, Upstream } from '../../../schemas/account-events.ts'
import { SANDBOX } from '../../../schemas/primitives.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ProviderOutcome } from '../../ports/provider.ts'
import type { Random } from '../../ports/random.ts'
import { mayBeBilled, providerCost } from '../../services/providers/provider-cost.ts'
import type { Routes } from '../../services/providers/routes.ts'
import { readRunInput } from '../../services/runs/run-input.ts'
import { broken } from './failures.ts'

export interface RunCostsDependencies {
  routes: Pick<Routes, 'priceListOf'>
  random: Pick<Random, 'hex'>
  log: Pick<EventLog, 'readEvent'>
  logger: Logger
}

const SALT_BYTES = 16

/** A run with its input, or with the place of the event that holds the input. */
export type BilledRun = Pick<WatchTask, 'accountId' | 'runId' | 'endpoint'> &
  ({ input: Record<string, unknown> } | Pick<WatchTask, 'queuedRevision'>)

/** Rejects like `readRunInput`. */
export const inputOf = async (log: RunCostsDependencies['log'], run: BilledRun): Promise<Record<string, unknown>> =>
  'input' in run ? run.input : readRunInput(log, run)

/**
 * What an upstream that was asked to do a run may bill for it; undefined if it bills nothing. Rejects with Unavailable.
 */
export const runCost = async (
  { routes, random, log, logger }: RunCostsDependencies,
  run: BilledRun,
  outcome: ProviderOutcome,
  upstream: Upstream,
): Promise<ProviderCost | undefined> => {
  if (upstream.provider === SANDBOX || !(mayBeBilled(outcome) || outcome === broken)) return undefined
  const salt = random.hex(SALT_BYTES)
  const price = routes.priceListOf(run.endpoint, upstream)
  if (!price) return { ...providerCost(outcome, undefined, {}), salt }
  try {
    const input = await inputOf(log, run)
    return { ...providerCost(outcome, price, input), salt }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    logger.error({ err: error, runId: run.runId }, 'the cost of a run could not be determined')
    return { ...providerCost(outcome, undefined, {}), salt }
  }
}
