import { toCredits } from '../../audit/decimal.ts'
import { percentEncoded } from '../../audit/export/double-entry.ts'
import type { SpokenLine } from './lines.ts'

const OWN = 'Assets:Tollgate'

const HEAD = `decimal-mark .
commodity 1,000.000000 CREDIT
account ${OWN}  ; type: A
account Expenses  ; type: X
account Income  ; type: R
account Equity  ; type: E

`

/** A customer's own books for hledger: credits are what it owns, and runs what it spends them on. */
export class Journal {
  #isBegun = false

  /** The transaction of the next line. The first one comes with the balance before it. */
  take(line: SpokenLine): string {
    const text = transactionOf(line)
    if (this.#isBegun) return text
    this.#isBegun = true
    return HEAD + opening(line) + text
  }

  /** A statement without lines is only the head of a journal. */
  end(): string {
    return this.#isBegun ? '' : HEAD
  }
}

const opening = ({ at, changeMicros, balanceMicros }: SpokenLine): string => {
  const before = balanceMicros - changeMicros
  return before === 0 ? '' : written(at, 'Balance before', [], before, before, 'Equity:Opening')
}

const transactionOf = ({
  at,
  what,
  detail,
  runId,
  keyName,
  label,
  changeMicros,
  balanceMicros,
  ...line
}: SpokenLine) => {
  const tags = Object.entries({ time: at, detail, run: runId, key: keyName, label })
  return written(at, what, tags, changeMicros, balanceMicros, otherSide(line))
}

const otherSide = ({ kind, model }: Pick<SpokenLine, 'kind' | 'model'>): string =>
  kind === 'grant' || kind === 'withdrawal' ? 'Equity:Granted' : `Expenses:Tollgate:${model ?? 'unknown'}`

const written = (
  at: string,
  what: string,
  tags: [name: string, value: string | undefined][],
  changeMicros: number,
  balanceMicros: number,
  other: string,
): string =>
  [
    `${at.slice(0, 10)} * ${percentEncoded(what, /[;|]/g)}`,
    ...tags.flatMap(([name, value]) => (value ? [`    ; ${name}: ${percentEncoded(value, TAG_END)}`] : [])),
    `    ${OWN}  ${toCredits(changeMicros)} CREDIT = ${toCredits(balanceMicros)} CREDIT`,
    `    ${other}  ${toCredits(-changeMicros)} CREDIT`,
    '\n',
  ].join('\n')

/** The value of a tag ends at a comma, and hledger removes spaces around it. */
const TAG_END = /,|^\s+|\s+$/g
