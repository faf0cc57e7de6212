import type { AccountFold } from '../../audit/account/account-fold.ts'
import { actorOf } from '../../audit/account/key-ring.ts'
import { type LedgerLine, totalOf } from '../../audit/books.ts'
import { count } from '../../audit/decimal.ts'
import { describeEvent } from '../../audit/describe-event.ts'
import type { Split } from '../../audit/lots.ts'
import type { AccountRecord } from '../../audit/read-log.ts'
import type { Replay } from '../../audit/replay.ts'
import { type Align, toColumns } from '../columns.ts'
import { actorToJson, creditsToJson, eventToJson } from './json.ts'
import { chainToJson, chainToText, credits, dayOf, printable, signedCredits, split, timeOf, wrapped } from './text.ts'

/** Events in a table. The columns of a table are as wide as its texts, so memory holds all its lines. */
const TABLE_EVENTS = 1000

/** With these widths, a line fits in 100 columns. */
const WORDS_WIDTH = 40
const ACTOR_WIDTH = 15

/** Prints the history of an account while the log is read, so memory does not limit its length. */
export class HistoryPrinter {
  readonly #accountId: string
  readonly #json: boolean
  #rows: string[][] = []
  #events = 0
  #day = ''

  constructor(accountId: string, { json = false }: { json?: boolean }) {
    this.#accountId = accountId
    this.#json = json
  }

  take(event: AccountRecord, line: LedgerLine | undefined, account: AccountFold) {
    if (this.#json) this.#rows.push([JSON.stringify(lineToJson(event, line, account))])
    else this.#rows.push(...this.#dayRow(event), textRow(event, line, account))
    this.#events += 1
    if (this.#events % TABLE_EVENTS === 0) this.flush()
  }

  /** Prints the pending lines. */
  flush() {
    if (this.#rows.length === 0) return
    if (this.#json) {
      const isFirst = this.#events <= this.#rows.length
      if (isFirst) console.log(`{"account_id":${JSON.stringify(this.#accountId)},"events":[`)
      console.log(`${isFirst ? '' : ','}${this.#rows.join(',\n')}`)
    } else console.log(toColumns(this.#rows, { head: HEAD, aligns: ALIGNS }))
    this.#rows = []
  }

  end({ account, faults }: Replay) {
    if (this.#json) console.log(`],${JSON.stringify(chainToJson(faults)).slice(1)}`)
    else {
      const of = account.balance.paidMicros > 0 ? ` (${split(account.balance).join(', ')})` : ''
      const balance = `${credits(totalOf(account.balance))} credits${of}`
      console.log(`\n${count(this.#events, 'event')}; the balance is ${balance}.`)
      for (const text of chainToText(faults, this.#accountId)) console.log(`\n${text}`)
    }
  }

  /** A row with the date, before the first event of a day. */
  #dayRow({ metadata: { at } }: AccountRecord): string[][] {
    const day = dayOf(at)
    if (day === this.#day) return []
    this.#day = day
    return [['', day, '', '', '', '']]
  }
}

const HEAD = ['rev', 'time (UTC)', 'event', 'by', 'change', 'balance']
const ALIGNS: Align[] = ['right', 'left', 'left', 'left', 'right', 'right']

const textRow = (event: AccountRecord, line: LedgerLine | undefined, account: AccountFold): string[] => {
  const { revision, metadata } = event
  return [
    String(revision),
    timeOf(metadata.at),
    wrapped(printable(describeEvent(event, account.keys)), WORDS_WIDTH),
    wrapped(printable(account.keys.describe(actorOf(event))), ACTOR_WIDTH),
    line ? split(line.change, signedCredits).join('\n') : '',
    line ? balanceOf(line) : inTotal(account.balance),
  ]
}

/** Shows free and paid credits separately if the account has both. */
const balanceOf = ({ balance }: LedgerLine): string => {
  const sides = split(balance)
  return sides.length > 1 ? [inTotal(balance), ...sides].join('\n') : (sides[0] as string)
}

/** Leaves space for ` free` or ` paid`, so that the numbers of a column align. */
const inTotal = (balance: Split): string => `${credits(totalOf(balance))}     `

const lineToJson = (event: AccountRecord, line: LedgerLine | undefined, account: AccountFold) => ({
  ...eventToJson(event),
  words: describeEvent(event, account.keys),
  actor: actorToJson(actorOf(event), account.keys),
  request_id: event.metadata.requestId ?? null,
  data: event.data,
  ...creditsToJson('credits_change', line?.change),
  ...creditsToJson('credits_balance', account.balance),
})
