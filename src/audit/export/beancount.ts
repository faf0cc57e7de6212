import { toCredits } from '../decimal.ts'
import { DoubleEntry, dayAfter, type Entry, percentEncoded } from './double-entry.ts'
import type { Exporter } from './exporter.ts'
import { CREDIT } from './names.ts'
import type { Posting } from './sales.ts'

/**
 * Accounts that all customers share open on this day, which is before every event, even if a customer's clock was
 * behind.
 */
const BEGINNING = '1970-01-01'

const HEAD = `option "title" "Tollgate"
option "operating_currency" "${CREDIT}"
${BEGINNING} commodity ${CREDIT}

`

/** A customer's balances by account, after the last entry of a day. */
interface DayEnd {
  day: string
  balances: Map<string, number>
}

/** A beancount file, with each customer's balances at the end of every day that moved them. */
export const beancountExporter = (): Exporter => {
  const ledger = new DoubleEntry()
  const opened = new Set<string>()
  const dayEnds = new Map<string, DayEnd>()

  const open = ({ day, postings }: Entry): string =>
    postings
      .map(({ account, balanceMicros }) => {
        if (opened.has(account)) return ''
        opened.add(account)
        // Accounts of customers hold only credits. Others may have several currencies.
        return balanceMicros === undefined ? `${BEGINNING} open ${account}\n` : `${day} open ${account} ${CREDIT}\n`
      })
      .join('')

  /** Notes the balances after an entry. Returns the assertions of the customer's previous day once that day is over. */
  const note = ({ account, day, postings }: Entry): string => {
    const last = dayEnds.get(account)
    const today = last?.day === day ? last : { day, balances: new Map<string, number>() }
    dayEnds.set(account, today)
    for (const { account: name, balanceMicros } of postings)
      if (balanceMicros !== undefined) today.balances.set(name, balanceMicros)
    return last && last !== today ? assertions(last) : ''
  }

  return {
    head: HEAD,
    take: event => {
      const entry = ledger.take(event)
      return entry ? `${note(entry)}${open(entry)}${transaction(entry)}` : ''
    },
    end: () => [...dayEnds.values()].map(assertions).join(''),
  }
}

const transaction = ({ day, narration, tags, postings }: Entry): string =>
  [
    `${day} * ${quoted(narration)}`,
    ...tags.map(([name, value]) => `  ${name}: ${quoted(value)}`),
    ...postings.flatMap(posting),
    '\n',
  ].join('\n')

const posting = ({ account, amountMicros, commodity, lot }: Posting): string[] => [
  `  ${account}  ${toCredits(amountMicros)} ${commodity}`,
  ...(lot === undefined ? [] : [`    lot: ${quoted(lot)}`]),
]

/**
 * An assertion of beancount is about the start of a day, so it has the date of the next day. Without an explicit
 * tolerance, beancount accepts a difference of a millionth.
 */
const assertions = ({ day, balances }: DayEnd): string =>
  [...balances]
    .map(([account, micros]) => `${dayAfter(day)} balance ${account}  ${toCredits(micros)} ~ 0 ${CREDIT}\n`)
    .join('')

const quoted = (text: string): string => `"${percentEncoded(text).replaceAll(/["\\]/g, '\\$&')}"`
