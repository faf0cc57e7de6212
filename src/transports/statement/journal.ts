import { toCredits } from '../../audit/decimal.ts'
import { percentEncoded } from '../../audit/export/double-entry.ts'
import type { SpokenLine } from './lines.ts'

const OWN = 'Assets:Tollgate'

/** The order of accounts in reports, and how amounts are shown. */
const HEAD = `decimal-mark .
commodity 1,000.000000 CREDIT
account Assets  ; type: A
account Expenses  ; type: X
account Equity  ; type: E

`

/** A customer's own books for hledger: credits are what it owns, and runs what it spends them on. */
export class Journal {
  readonly #declared = new Set<string>()

  /** The transaction of the next line. The first one comes with the balance before it. */
  take(line: SpokenLine): string {
    const before = this.#declared.size === 0 ? HEAD + this.#declare(OWN) + this.#opening(line) : ''
    return before + this.#declare(otherSide(line)) + transactionOf(line)
  }

  /** A statement without lines is only the head of a journal. */
  end(): string {
    return this.#declared.size === 0 ? HEAD : ''
  }

  #opening({ at, changeMicros, balanceMicros }: SpokenLine): string {
    const before = balanceMicros - changeMicros
    if (before === 0) return ''
    return this.#declare(OPENING) + written(at, 'Balance before', [], before, before, OPENING)
  }

  #declare(account: string): string {
    if (this.#declared.has(account)) return ''
    this.#declared.add(account)
    return `account ${account}\n`
  }
}

const OPENING = 'Equity:Opening'

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
