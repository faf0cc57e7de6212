import { toCredits } from '../decimal.ts'
import { DoubleEntry, type Entry, percentEncoded } from './double-entry.ts'
import type { Exporter } from './exporter.ts'
import { CREDIT } from './names.ts'
import type { Posting } from './sales.ts'

/** A journal for hledger, with a balance assertion at each posting to a lot. */
export const hledgerExporter = (): Exporter => {
  const ledger = new DoubleEntry()
  const declared = new Set([commodityOf(CREDIT)])
  const declare = (directive: string): string => {
    if (declared.has(directive)) return ''
    declared.add(directive)
    return directive
  }
  const declarePosting = ({ account, commodity }: Posting) =>
    declare(commodityOf(commodity)) + declare(`account ${account}\n`)
  return {
    head: HEAD,
    take: event => {
      const entry = ledger.take(event)
      return entry ? `${entry.postings.map(declarePosting).join('')}${transaction(entry)}` : ''
    },
  }
}

/** Also sets how amounts are shown. */
const commodityOf = (commodity: string): string => `commodity 1,000.000000 ${commodity}\n`

/** The order of accounts in reports. */
const HEAD = `decimal-mark .
${commodityOf(CREDIT)}account Assets  ; type: A
account Liabilities  ; type: L
account Income  ; type: R
account Expenses  ; type: X
account Equity  ; type: E

`

const transaction = ({ day, narration, tags, postings }: Entry): string =>
  [
    `${day} * ${narration}`,
    ...tags.map(([name, value]) => `    ; ${name}: ${percentEncoded(value, TAG_END)}`),
    ...postings.map(posting),
    '\n',
  ].join('\n')

/** The value of a tag ends at a comma, and hledger removes spaces around it. */
const TAG_END = /,|^\s+|\s+$/g

const posting = ({ account, amountMicros, commodity, balanceMicros, lot }: Posting): string => {
  const assertion = balanceMicros === undefined ? '' : ` = ${toCredits(balanceMicros)} ${commodity}`
  const tag = lot === undefined ? '' : `  ; lot: ${lot}`
  return `    ${account}  ${toCredits(amountMicros)} ${commodity}${assertion}${tag}`
}
