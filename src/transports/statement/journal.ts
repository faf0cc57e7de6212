import { toCredits } from '../../audit/decimal.ts'
import { percentEncoded } from '../../audit/export/double-entry.ts'
import type { Brand } from '../../domain/brand.ts'
import type { SpokenLine } from './lines.ts'

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
  /** The name of the service, as a part of the name of an account. */
  readonly #service: string

  constructor({ name }: Pick<Brand, 'name'>) {
    this.#service = percentEncoded(name, NOT_IN_ACCOUNT)
  }

  /** The transaction of the next line. The first one comes with the balance before it. */
  take(line: SpokenLine): string {
    const before = this.#declared.size === 0 ? HEAD + this.#declare(this.#own) + this.#opening(line) : ''
    return before + this.#declare(this.#otherSide(line)) + this.#transaction(line)
  }

  /** A statement without lines is only the head of a journal. */
  end(): string {
    return this.#declared.size === 0 ? HEAD : ''
  }

  get #own(): string {
    return `Assets:${this.#service}`
  }

  #otherSide({ kind, model }: SpokenLine): string {
    const isGrant = kind === 'grant' || kind === 'withdrawal'
    return isGrant ? 'Equity:Granted' : `Expenses:${this.#service}:${model ?? 'unknown'}`
  }

  #opening({ at, changeMicros, balanceMicros }: SpokenLine): string {
    const before = balanceMicros - changeMicros
    if (before === 0) return ''
    return this.#declare(OPENING) + this.#written(at, 'Balance before', [], before, before, OPENING)
  }

  #declare(account: string): string {
    if (this.#declared.has(account)) return ''
    this.#declared.add(account)
    return `account ${account}\n`
  }

  #transaction(line: SpokenLine): string {
    const { at, what, detail, runId, keyName, label, changeMicros, balanceMicros } = line
    const tags = Object.entries({ time: at, detail, run: runId, key: keyName, label })
    return this.#written(at, what, tags, changeMicros, balanceMicros, this.#otherSide(line))
  }

  #written(
    at: string,
    what: string,
    tags: [name: string, value: string | undefined][],
    changeMicros: number,
    balanceMicros: number,
    other: string,
  ): string {
    return [
      `${at.slice(0, 10)} * ${percentEncoded(what, /[;|]/g)}`,
      ...tags.flatMap(([name, value]) => (value ? [`    ; ${name}: ${percentEncoded(value, TAG_END)}`] : [])),
      `    ${this.#own}  ${toCredits(changeMicros)} CREDIT = ${toCredits(balanceMicros)} CREDIT`,
      `    ${other}  ${toCredits(-changeMicros)} CREDIT`,
      '\n',
    ].join('\n')
  }
}

const OPENING = 'Equity:Opening'

/** A colon divides the name of an account, and two spaces or a semicolon end it. */
const NOT_IN_ACCOUNT = /[:;]|\s(?=\s)/g

/** The value of a tag ends at a comma, and hledger removes spaces around it. */
const TAG_END = /,|^\s+|\s+$/g
