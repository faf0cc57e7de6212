import type { ReadableLog } from '../../ports/event-log.ts'
import type { OnProgress } from '../read-log.ts'
import { type Replay, replayAccount } from '../replay.ts'
import { checkPrice, type PriceCheck } from './check-price.ts'
import { type FoundRun, findRun } from './find-run.ts'
import { type PriceStep, priceSteps } from './price-steps.ts'
import { RunStory } from './run-story.ts'

export interface Explanation extends Pick<Replay, 'account' | 'faults'>, FoundRun {
  runId: string
  story: RunStory
  /** The arithmetic of the price. */
  steps: PriceStep[]
  price: PriceCheck
}

/**
 * The story of one run, from the events of its account. Resolves to undefined if the log lacks the run. Throws Damaged
 * if an event of the account cannot be read, or its credits do not add up.
 */
export const explainRun = async (
  log: ReadableLog,
  runId: string,
  onProgress?: OnProgress,
): Promise<Explanation | undefined> => {
  const found = await findRun(log, runId, onProgress)
  if (!found) return undefined
  const story = new RunStory()
  const { account, faults } = await replayAccount(log, found.accountId, {
    onEvent: (event, line) => (event.data as { runId?: string }).runId === runId && story.take(event, line),
    onProgress,
  })
  const steps = story.receipt ? priceSteps(story.receipt) : []
  return { ...found, runId, story, account, faults, steps, price: await checkPrice(log, story) }
}
