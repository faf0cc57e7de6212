import type { Receipt } from '../../../schemas/catalog.ts'
import { accountIn, CATALOG_STREAM, SEALS_STREAM } from '../../../schemas/events.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { sealName } from '../../services/seals/seals.ts'
import { totalOf } from '../books.ts'
import type { AuditedEvent } from '../fault.ts'
import { type OnProgress, readLog } from '../read-log.ts'
import { type Replay, replayAccount } from '../replay.ts'
import { PriceList, receiptFault, ruleFault } from '../verify/prices.ts'
import { isReserve, releaseFaults, usageFault } from '../verify/releases.ts'
import type { NewestSeal } from '../verify/seals.ts'
import { type PriceStep, priceSteps } from './price-steps.ts'
import { RunStory } from './run-story.ts'

export interface Explanation extends Pick<Replay, 'account' | 'faults'>, FoundRun {
  runId: string
  story: RunStory
  /** The arithmetic of the price. */
  steps: PriceStep[]
  /** The arithmetic of the final price, if a part of the debit was released. */
  finalSteps: PriceStep[]
  price: PriceCheck
}

/**
 * Explains one run with the events of its account. Resolves to undefined if the log lacks the run. Throws Damaged if an
 * event of the account cannot be read, or its credits do not add up.
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
  const [steps, finalSteps] = [stepsOf(story.receipt), stepsOf(story.release?.receipt)]
  return { ...found, runId, story, account, faults, steps, finalSteps, price: await checkPrice(log, story) }
}

const stepsOf = (receipt: Receipt | undefined): PriceStep[] => (receipt ? priceSteps(receipt) : [])

interface PriceCheck {
  /** The catalog event that the receipt names; absent if the log lacks it. */
  listed?: AuditedEvent
  /** The receipt does not add up, or differs from the price list or the debit. */
  faults: string[]
}

/** Recomputes the price of a run from its receipt, and compares the receipt with the price list of its time. */
export const checkPrice = async (log: ReadableLog, story: RunStory): Promise<PriceCheck> => {
  const { receipt, request, events, isTest } = story
  if (!receipt) return { faults: ['the run was never debited'] }
  const raw = await log.readEvent(CATALOG_STREAM, receipt.catalogRevision)
  const listed = raw && (eventCodec.decode(raw) as unknown as AuditedEvent)
  const prices = new PriceList()
  if (listed) prices.take(listed)
  const rule = prices.ruleOf(receipt)
  const debited = events.find(({ type }) => type === 'CreditsDebited')?.data as { amountMicros: number } | undefined
  const faults = [
    receiptFault(receipt),
    typeof rule === 'string' ? rule : ruleFault(receipt, rule, request?.input ?? {}),
    !isTest && debited?.amountMicros !== receipt.totalMicros && `the debit is ${debited?.amountMicros} microcredits`,
    ...(isTest ? [] : settlementFaults(story, receipt)),
  ]
  return { ...(listed && { listed }), faults: faults.filter(fault => typeof fault === 'string') }
}

const settlementFaults = ({ release, usage, output }: RunStory, receipt: Receipt): (string | undefined)[] => {
  const { credits, receipt: settled } = release ?? {}
  return [
    ...(credits && settled
      ? releaseFaults(
          { amountMicros: totalOf(credits), receipt: settled },
          { chargedMicros: receipt.totalMicros, ...(isReserve(receipt) && { reserve: receipt }) },
        )
      : []),
    output && isReserve(receipt) ? usageFault(usage, receipt, settled) : undefined,
  ]
}

interface FoundRun {
  accountId: string
  /** The first seal that covers all events of the run so far. It is not verified. */
  seal: NewestSeal | undefined
}

/** The account of a run, and its seal; undefined if the log has no such run. Decodes no event. */
const findRun = async (log: ReadableLog, runId: string, onProgress?: OnProgress): Promise<FoundRun | undefined> => {
  let accountId: string | undefined
  let seal: NewestSeal | undefined
  /** The numbers of the current event and of the run's newest event, counted as seals count. */
  let [events, eventsOfRun] = [0, 0]
  for await (const page of readLog(log, { onProgress }))
    for (const { stream, type, data, metadata } of page) {
      if (stream !== SEALS_STREAM) {
        events += 1
        const account = (data as { runId?: unknown } | null)?.runId === runId ? accountIn(stream) : undefined
        if (account === undefined) continue
        accountId ??= account
        eventsOfRun = events
        seal = undefined
      } else if (type === 'LogSealed' && accountId !== undefined && !seal) {
        const { number, events: covered, at } = data as LogSealed
        const { hash: link } = metadata as { hash: string }
        if (covered >= eventsOfRun) seal = { number, name: sealName(data as LogSealed), link, events: covered, at }
      }
    }
  return accountId === undefined ? undefined : { accountId, seal }
}
