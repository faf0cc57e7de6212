import type { Receipt } from '../../../../schemas/catalog.ts'
import { priceSteps, stepToText } from '../../../audit/explain/price-steps.ts'
import { credits, shown } from '../text.ts'

/** A price as one line of arithmetic: `base 10 × 2 (num_images) + 1.5 (…) = 21.5`. */
export const priceOf = (receipt: Receipt): string => {
  const terms = priceSteps(receipt).map(step => {
    if (step.line.kind === 'base') return `base ${shown(step.result)}`
    const words = stepToText(step, receipt.usdPerCreditMicros)
    return step.line.kind === 'rounding' ? `= ${shown(step.result)} (${words})` : words
  })
  return `${terms.join(' ')} = ${credits(receipt.totalMicros)}`
}
