import { accountStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { AccountFold, type Opening } from '../account/account-fold.ts'
import { parseTime } from '../as-of.ts'
import { type LedgerLine, totalOf } from '../books/ledger-line.ts'
import type { Split } from '../books/lots.ts'
import type { AccountRecord } from '../read-account.ts'
import { type OnProgress, readLog } from '../read-log.ts'
import { Chain } from '../verify/chain.ts'
import type { NewestSeal } from '../verify/seals.ts'
import type { Period } from './period.ts'
import { SealedExtent } from './sealed-extent.ts'
import { closingOf, NOTHING, type Totals, totalsOf } from './totals.ts'

/** The movements of an account's credits in a period. It depends on the log alone, and not on when it is made. */
export interface Statement {
  account: Opening
  period: Period
  opening: Split
  lines: StatementLine[]
  totals: Totals
  closing: Split
  /** The newest event of the log that was read. */
  readTo: { position: Position; at: string }
  /** The newest seal of the log; absent where there is none. */
  seal?: NewestSeal
  /** The events of the log that no seal covers. */
  unsealed: number
}

export interface StatementLine extends LedgerLine {
  /** Whether a seal covers the event. */
  isSealed: boolean
}

interface Options {
  account: string
  period: Period
  onProgress?: OnProgress | undefined
}

/** Something in the log is at fault, so that no statement can be made of it. */
export interface Fault {
  fault: string
}

/**
 * Makes a statement of the log up to its present head. Resolves to the fault if the account's chain, its balances or
 * the seals are at fault, and to undefined if the log lacks the account.
 */
export const makeStatement = async (
  log: ReadableLog,
  { account, period, onProgress }: Options,
): Promise<Statement | Fault | undefined> => {
  const maker = new StatementMaker(account, period)
  for await (const page of readLog(log, { onProgress }))
    for (const event of page) {
      const fault = faultOf(() => maker.take(event))
      if (fault !== undefined) return { fault: placed(fault, event) }
    }
  return maker.end()
}

class StatementMaker {
  readonly #stream: string
  readonly #period: Period
  readonly #account = new AccountFold()
  readonly #chain = new Chain()
  readonly #extent = new SealedExtent()
  /** The lines of the period, each with the number of events in the log up to it. */
  readonly #lines: { line: LedgerLine; events: number }[] = []
  #opening = NOTHING
  #closing = NOTHING
  /** The latest time of the account so far, which in ledger format 1 may go back. */
  #at = ''
  #readTo = { position: BEFORE_FIRST, at: '' }

  constructor(account: string, period: Period) {
    this.#stream = accountStream(account as AccountId)
    this.#period = period
  }

  /** Takes the next event of the log. Throws Damaged if the account or a seal is at fault. */
  take(raw: RawEvent) {
    this.#extent.take(raw)
    const { at } = (raw.metadata ?? {}) as { at?: unknown }
    // Of other streams nothing is checked here, so that their times may be none.
    const isTime = typeof at === 'string' && parseTime(at) === at
    this.#readTo = { position: raw.position, at: isTime ? at : this.#readTo.at }
    if (raw.stream === this.#stream) this.#takeOwn(raw)
  }

  #takeOwn(raw: RawEvent) {
    this.#chain.take(raw, (what, isNote) => {
      if (!isNote) throw new Damaged(what)
    })
    const event = eventCodec.decode(raw) as AccountRecord
    const line = this.#account.take(event)
    const { at } = event.metadata
    if (at > this.#at) this.#at = at
    if (this.#at < this.#period.from) this.#opening = this.#account.balance
    if (this.#at >= this.#period.to) return
    this.#closing = this.#account.balance
    if (line && this.#at >= this.#period.from) this.#lines.push({ line, events: this.#extent.events })
  }

  end(): Statement | Fault | undefined {
    const account = this.#account.opening
    if (!account) return undefined
    const { newest: seal, unsealed } = this.#extent
    const lines = this.#lines.map(({ line, events }) => ({ ...line, isSealed: events <= (seal?.events ?? 0) }))
    const totals = totalsOf(lines)
    const [opening, closing] = [this.#opening, this.#closing]
    if (!isSame(closingOf(opening, totals), closing) || !follow(opening, lines))
      return { fault: `${this.#stream}: the opening balance and the lines do not add up to the closing balance` }
    const sealed = seal && { seal }
    return { account, period: this.#period, opening, lines, totals, closing, readTo: this.#readTo, ...sealed, unsealed }
  }
}

/** Whether each balance is the one before it with the change between them. */
const follow = (opening: Split, lines: LedgerLine[]): boolean => {
  let balanceMicros = totalOf(opening)
  return lines.every(({ change, balance }) => {
    balanceMicros += totalOf(change)
    return balanceMicros === totalOf(balance)
  })
}

const isSame = (one: Split, other: Split): boolean =>
  one.freeMicros === other.freeMicros && one.paidMicros === other.paidMicros

const faultOf = (take: () => void): string | undefined => {
  try {
    take()
    return undefined
  } catch (error) {
    if (error instanceof Damaged) return error.message
    throw error
  }
}

const placed = (fault: string, { stream, revision }: RawEvent): string => {
  const what = fault.replace(/; see what tollgate audit verify finds$/, '')
  return what.includes(stream) ? what : `${stream}, revision ${revision}: ${what}`
}
