import { accountStream, SEALS_STREAM } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { AccountFold, type Opening } from '../account/account-fold.ts'
import { parseTime } from '../as-of.ts'
import { type LedgerLine, totalOf } from '../books.ts'
import { bookingMonth, type Closing, monthOf, readClosings } from '../closings.ts'
import { faultOf } from '../fault.ts'
import type { Split } from '../lots.ts'
import { type AccountRecord, type OnProgress, readLog } from '../read-log.ts'
import { Chain } from '../verify/chain.ts'
import type { NewestSeal } from '../verify/seals.ts'
import { type Bounds, boundsOf, isBefore, type Period } from './period.ts'
import { ClosingSeals, SealedExtent } from './seals.ts'
import { closingOf, NOTHING, type Totals, totalsOf } from './totals.ts'

/**
 * The movements of an account's credits in a period. It depends only on the log, not on when it is made. The report of
 * closed months does not depend on later events either.
 */
export interface Statement {
  account: Opening
  period: Period
  opening: Split
  lines: StatementLine[]
  totals: Totals
  closing: Split
  /** The newest event that was read. */
  readTo: { position: Position; at: string }
  /** The newest seal of the log, or the seal that closed the reported months; absent without a seal. */
  seal?: NewestSeal
  /** The number of events that no seal covers. */
  unsealed: number
  /** Set if this is the report of closed months, which never changes. */
  closed?: Closing
  /** Whether the period starts or ends within a closed month, so this is not the report of that month. */
  isCut: boolean
}

export interface StatementLine extends LedgerLine {
  /** Whether a seal covers the event. */
  isSealed: boolean
  /** The month to which the event belongs, if its own month was already closed. */
  bookedIn?: string
}

interface Options {
  account: string
  period: Period
  onProgress?: OnProgress | undefined
}

/** The log has a fault, so no statement can be made. */
export interface Fault {
  fault: string
}

/**
 * Makes a statement of the log up to its current head. Resolves to a fault if the account's chain, its balances, the
 * seals or the closed months are at fault, and to undefined if the log lacks the account.
 */
export const makeStatement = async (
  log: ReadableLog,
  { account, period, onProgress }: Options,
): Promise<Statement | Fault | undefined> => {
  const closings = await readClosings(log)
  if ('fault' in closings) return closings
  const maker = new StatementMaker(account, period, closings)
  for await (const page of readLog(log, { onProgress })) {
    for (const event of page) {
      const fault = faultOf(event, () => maker.take(event))
      if (fault !== undefined) return { fault }
    }
    if (maker.isDone) break
  }
  return maker.end()
}

class StatementMaker {
  readonly #stream: string
  readonly #period: Period
  readonly #account = new AccountFold()
  readonly #chain = new Chain()
  readonly #extent = new SealedExtent()
  readonly #closings: readonly Closing[]
  readonly #bounds: Bounds
  readonly #closingSeals: ClosingSeals
  /** The lines of the period, with the number of events in the log up to each line. */
  readonly #lines: { line: LedgerLine; events: number; bookedIn: string | undefined }[] = []
  #opening = NOTHING
  #closing = NOTHING
  /** The latest time of the account. In ledger format 1, times may go back. */
  #at = ''
  #readTo = { position: BEFORE_FIRST, at: '' }

  constructor(account: string, period: Period, closings: readonly Closing[]) {
    this.#stream = accountStream(account as AccountId)
    this.#period = period
    this.#bounds = boundsOf(period, closings)
    this.#closings = this.#bounds.isCut ? [] : closings
    this.#closingSeals = new ClosingSeals(this.#closings)
  }

  /** Whether no later event of the log can belong to the report. */
  get isDone(): boolean {
    const { closed } = this.#bounds
    return closed !== undefined && this.#extent.newest?.number === closed.seal.number
  }

  /** Takes the next event of the log. Throws Damaged if the account or a seal is at fault. */
  take(raw: RawEvent) {
    if (this.isDone) return
    const before = this.#extent.newest
    this.#extent.take(raw)
    const { newest } = this.#extent
    if (newest && newest !== before) this.#closingSeals.take(newest)
    const { closed } = this.#bounds
    if (closed && (raw.stream === SEALS_STREAM || this.#extent.events > closed.seal.events)) return
    const { at } = (raw.metadata ?? {}) as { at?: unknown }
    // Other streams are not checked here, so the time may be invalid.
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
    const { from, to } = this.#bounds
    const { events } = this.#extent
    const isEarlier = isBefore(from, this.#at, events)
    if (isEarlier) this.#opening = this.#account.balance
    if (!isBefore(to, this.#at, events)) return
    this.#closing = this.#account.balance
    if (line && !isEarlier) this.#lines.push({ line, events, bookedIn: this.#bookedIn(events) })
  }

  #bookedIn(number: number): string | undefined {
    const month = bookingMonth(this.#closings, this.#at, number)
    return month === monthOf(this.#at) ? undefined : month
  }

  end(): Statement | Fault | undefined {
    const account = this.#account.opening
    if (!account) return undefined
    const { newest: seal } = this.#extent
    const { closed, isCut } = this.#bounds
    const missing = this.#closingSeals.fault(closed?.month)
    if (missing !== undefined) return { fault: missing }
    const unsealed = closed ? 0 : this.#extent.unsealed
    const lines = this.#lines.map(({ line, events, bookedIn }) => ({
      ...line,
      isSealed: events <= (seal?.events ?? 0),
      ...(bookedIn !== undefined && { bookedIn }),
    }))
    const totals = totalsOf(lines)
    const [opening, closing] = [this.#opening, this.#closing]
    if (!isSame(closingOf(opening, totals), closing) || !follow(opening, lines))
      return { fault: `${this.#stream}: the opening balance and the lines do not add up to the closing balance` }
    const sealed = { ...(seal && { seal }), unsealed, ...(closed && { closed }), isCut }
    return { account, period: this.#period, opening, lines, totals, closing, readTo: this.#readTo, ...sealed }
  }
}

/** Whether each balance is the previous balance plus the change. */
const follow = (opening: Split, lines: LedgerLine[]): boolean => {
  let balanceMicros = totalOf(opening)
  return lines.every(({ change, balance }) => {
    balanceMicros += totalOf(change)
    return balanceMicros === totalOf(balance)
  })
}

const isSame = (one: Split, other: Split): boolean =>
  one.freeMicros === other.freeMicros && one.paidMicros === other.paidMicros
