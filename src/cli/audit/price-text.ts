import type { Explanation } from '../../audit/explain/explain.ts'
import { stepToText } from '../../audit/explain/price-steps.ts'
import { toColumns } from '../columns.ts'
import { credits, printable, SECTION_WIDTH, shown, split, wrapped } from './text.ts'

/** The width of the steps beside their results, in 100 columns. */
const STEP_WIDTH = 60

/** The price as an arithmetic that a person can follow, with the credits after each step. */
export const priceToText = ({ story: { receipt, used }, steps, price: { listed, faults } }: Explanation): string => {
  if (!receipt) return 'The run was never debited.'
  const { catalogRevision, totalMicros, usdPerCreditMicros } = receipt
  const rows = steps.map(step => [
    wrapped(printable(stepToText(step, usdPerCreditMicros)), STEP_WIDTH),
    shown(step.result),
  ])
  const source = listed
    ? `From revision ${catalogRevision} of the catalog, of ${listed.metadata.at}.`
    : `From revision ${catalogRevision} of the catalog, which the log does not have.`
  const verdict =
    faults.length === 0
      ? 'The price recomputed from the receipt and from this price list is the same.'
      : `The price is wrong: ${faults.join('; ')}.`
  return [
    toColumns([...rows, ['= price', credits(totalMicros)]], { aligns: ['left', 'right'] }),
    '',
    `Credits used: ${split(used).join(' and ')}.`,
    wrapped(printable(`${source} ${verdict}`), SECTION_WIDTH),
  ].join('\n')
}
