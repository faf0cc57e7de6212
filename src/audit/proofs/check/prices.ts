import type { Family } from '../../../../schemas/catalog.ts'
import { PriceList, type Receipt, receiptFault, ruleFault } from '../../verify/prices.ts'
import type { AuditedEvent } from '../../verify/rule.ts'
import type { ReadEvent } from './event.ts'
import { hold } from './wrong.ts'

/** Recomputes the price of each debit, and compares its receipt with the price rule that it names. */
export class Prices {
  readonly #list = new PriceList()
  #debit: { runId: unknown; receipt: Receipt } | undefined
  /** How many prices are right. */
  count = 0

  /** Takes an event of the catalog. */
  publish(revision: number, { data }: ReadEvent) {
    this.#list.take({ revision, data: data as { family?: Family } } as unknown as AuditedEvent)
  }

  /** Takes the next event of the account. Throws Wrong if its price is. */
  take(revision: number, { type, data }: ReadEvent) {
    const debit = this.#debit
    this.#debit = undefined
    if (debit) {
      const isNext = type === 'RunQueued' && data['runId'] === debit.runId
      hold(isNext, `event ${revision} is not the run of the debit before it`)
      this.#compare(revision, debit.receipt, data as unknown as Queued)
    }
    if (type !== 'CreditsDebited') return
    const receipt = withRate(data['receipt'] as Receipt)
    hold(receipt.totalMicros === data['amountMicros'], `event ${revision} debits another amount than its receipt`)
    const fault = receiptFault(receipt)
    hold(fault === undefined, `event ${revision}: ${fault}`)
    this.#debit = { runId: data['runId'], receipt }
  }

  #compare(revision: number, receipt: Receipt, { model, endpoint, input }: Queued) {
    const isOfRun = typeof endpoint === 'string' && receipt.model === model && receipt.endpoint === endpoint
    hold(isOfRun, `event ${revision} runs another model than the receipt before it`)
    const rule = this.#list.ruleOf(receipt)
    const fault = typeof rule === 'string' ? rule : ruleFault(receipt, rule, input)
    hold(fault === undefined, `event ${revision - 1}: ${fault}`)
    this.count += 1
  }
}

interface Queued {
  model: string
  endpoint: string
  input: Record<string, unknown>
}

/** In format 1 the rate stands in the lines. */
const withRate = (receipt: Receipt): Receipt => {
  const [surcharge] = receipt.lines.filter(({ kind }) => kind === 'surcharge') as { usdPerCreditMicros?: number }[]
  const usdPerCreditMicros = receipt.usdPerCreditMicros ?? surcharge?.usdPerCreditMicros
  return { ...receipt, usdPerCreditMicros }
}
