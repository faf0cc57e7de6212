import { CATALOG_STREAM } from '../../../schemas/events.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { PriceList, receiptFault, ruleFault } from '../verify/prices.ts'
import type { AuditedEvent } from '../verify/rule.ts'
import type { RunStory } from './run-story.ts'

export interface PriceCheck {
  /** The event of the catalog that the receipt names; absent if the log lacks it. */
  listed?: AuditedEvent
  /** The receipt does not add up, or differs from the price list or the debit. */
  faults: string[]
}

/** Recomputes the price of a run from its receipt, and compares the receipt with the price list of its time. */
export const checkPrice = async (
  log: ReadableLog,
  { receipt, request, events, isTest }: RunStory,
): Promise<PriceCheck> => {
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
  ]
  return { ...(listed && { listed }), faults: faults.filter(fault => typeof fault === 'string') }
}
