import { toCredits } from '../decimal.ts'
import { COMMODITY, DoubleEntry, type Entry, type Posting } from './double-entry.ts'
import type { Exporter } from './exporter.ts'
import { percentEncoded } from './percent.ts'

/** A journal of hledger with a balance assertion at each posting to a customer. */
export const hledgerExporter = (): Exporter => {
  const ledger = new DoubleEntry()
  const declared = new Set<string>()
  const declare = ({ account }: Posting): string => {
    if (declared.has(account)) return ''
    declared.add(account)
    return `account ${account}\n`
  }
  return {
    head: HEAD,
    take: event => {
      const entry = ledger.take(event)
      return entry ? `${entry.postings.map(declare).join('')}${transaction(entry)}` : ''
    },
  }
}

/** Reports show the accounts in this order. */
const HEAD = `decimal-mark .
commodity 1,000.000000 ${COMMODITY}
account Liabilities  ; type: L
account Income  ; type: R
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

const posting = ({ account, amountMicros, balanceMicros }: Posting): string => {
  const assertion = balanceMicros === undefined ? '' : ` = ${toCredits(balanceMicros)} ${COMMODITY}`
  return `    ${account}  ${toCredits(amountMicros)} ${COMMODITY}${assertion}`
}
