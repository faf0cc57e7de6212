import { costOf } from '../../../schemas/account-events.ts'
import { accountIn, CATALOG_STREAM } from '../../../schemas/events.ts'
import type { Metadata, RawEvent } from '../../../schemas/recorded.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { parseTime } from '../as-of.ts'
import { Books, type LedgerLine, totalOf } from '../books.ts'
import type { Lot } from '../lots.ts'
import { takeLine } from './exporter.ts'
import { CREDIT, grantsOf, liabilityOf, lotName, Names } from './names.ts'
import { isOfSale, type Posting, Sales } from './sales.ts'

/** Credits that nobody used before they expired. */
const BREAKAGE = 'Income:Breakage'

/** A movement of credits or money, or a provider's charge for a run, as a transaction of double-entry bookkeeping. */
export interface Entry {
  /** The customer. The days of a customer's transactions never go back. */
  account: string
  /** In UTC, such as `2026-11-23`. */
  day: string
  narration: string
  /** Names and values of the tags that have a value. */
  tags: [name: string, value: string][]
  postings: Posting[]
}

/** Makes transactions of the events of a log. */
export class DoubleEntry {
  readonly #books = new Books()
  readonly #names = new Names()
  readonly #sales = new Sales()
  /** The day of each account's last entry. */
  readonly #days = new Map<string, string>()

  /** Takes the next event. Returns its transaction, if any. Throws Damaged if credits do not add up. */
  take(event: RawEvent): Entry | undefined {
    if (event.stream === CATALOG_STREAM) this.#name(event)
    const line = takeLine(this.#books, event)
    if (!line) return isOfSale(event.type) ? this.#saleOf(event) : this.#expenseOf(event)
    return {
      account: line.account,
      day: this.#dayOf(line),
      narration: narrationOf(line),
      tags: tagsOf(line),
      postings: this.#postingsOf(line),
    }
  }

  /** Undefined if the event moves neither money nor debt. */
  #saleOf(event: RawEvent): Entry | undefined {
    const account = accountIn(event.stream)
    if (account === undefined) return undefined
    const nextLot = (this.#books.accounts.get(account)?.lots.length ?? 0) + 1
    const sale = this.#sales.take(eventCodec.decode(event), nextLot)
    if (!sale) return undefined
    const { id: eventId, position, revision } = event
    const { at, hash } = event.metadata as Metadata
    const place = { event_id: eventId, position, revision, time: at }
    return {
      account,
      day: this.#dayOf({ account, revision, at }),
      ...sale,
      tags: toTags({ ...place, ...sale.tags, hash }),
    }
  }

  /** Undefined if the event has no cost, or the charge is unknown. */
  #expenseOf(event: RawEvent): Entry | undefined {
    const account = accountIn(event.stream)
    const cost = costOf(event) && costOf(eventCodec.decode(event))
    if (!cost || account === undefined) return undefined
    const { id: eventId, position, revision } = event
    const { runId, provider, model, version, amountMicros, currency: commodity, source } = cost
    if (amountMicros === undefined || commodity === undefined) return undefined
    const name = this.#names.providerOf(provider)
    const { at, hash } = event.metadata as Metadata
    return {
      account,
      day: this.#dayOf({ account, revision, at }),
      narration: `Cost: ${provider}`,
      tags: toTags({
        ...{ event_id: eventId, position, revision, time: at, run_id: runId },
        ...{ upstream_model: model, upstream_version: version, source, hash },
      }),
      postings: [
        { account: `Expenses:Providers:${name}`, amountMicros, commodity },
        { account: `Liabilities:Providers:${name}`, amountMicros: 0 - amountMicros, commodity },
      ],
    }
  }

  /**
   * Families get their names in the order of the catalog, so the books of one account use the same names as the books
   * of all.
   */
  #name(event: RawEvent) {
    const { data } = eventCodec.decode(event)
    if ('family' in data && typeof data.family === 'object') this.#names.revenueOf(data.family.id)
  }

  /**
   * In ledger format 1, an account's time may go back. Its days must not: balances hold only in the order of events.
   */
  #dayOf({ account, revision, at }: Pick<LedgerLine, 'account' | 'revision' | 'at'>): string {
    const day = dayOf(at)
    if (!day) throw new Damaged(`${account}, revision ${revision}: the calendar has no such time as ${at}`)
    const last = this.#days.get(account) ?? day
    if (day < last) return last
    this.#days.set(account, day)
    return day
  }

  /** Two postings for each lot: what we owe of it, and where its credits went or came from. */
  #postingsOf({ account, kind, change, uses, grantKind, run }: LedgerLine): Posting[] {
    const named = run ? this.#names.revenueOf(run.model) : grantKind && grantsOf(grantKind)
    const other = kind === 'expiry' ? BREAKAGE : named
    if (!other) throw new Damaged(`the ${kind} of ${account} names neither its kind nor its run`)
    const sign = Math.sign(totalOf(change))
    const lots = this.#books.accounts.get(account)?.lots ?? []
    return uses.flatMap(({ lot: number, amountMicros }) => {
      const { isPaid, leftMicros } = lots[number - 1] as Lot
      const lot = lotName(account, { isPaid, number })
      const owed = 0 - sign * amountMicros
      return [
        { account: liabilityOf(lot), amountMicros: owed, balanceMicros: 0 - leftMicros, commodity: CREDIT },
        { account: other, amountMicros: 0 - owed, commodity: CREDIT, lot },
      ]
    })
  }
}

const narrationOf = ({ kind, grantKind, run }: LedgerLine): string =>
  ({
    grant: `Grant: ${grantKind}`,
    withdrawal: `Withdrawal: ${grantKind}`,
    debit: `Run: ${run?.model}`,
    refund: `Refund: ${run?.model}`,
    release: `Release: ${run?.model}`,
    expiry: 'Expiry',
  })[kind]

const tagsOf = ({
  eventId,
  position,
  revision,
  at,
  run,
  reference,
  reason,
  payment,
  hash,
}: LedgerLine): Entry['tags'] =>
  toTags({
    event_id: eventId,
    position,
    revision,
    time: at,
    run_id: run?.runId,
    endpoint: run?.endpoint,
    key_id: run?.keyId,
    label: run?.label,
    reference,
    reason,
    payment_amount: payment?.amount,
    payment_currency: payment?.currency,
    payment_invoice: payment?.invoice,
    payment_tax: payment?.tax,
    hash,
  })

const toTags = (tags: Record<string, string | number | undefined>): Entry['tags'] =>
  Object.entries(tags).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))

const DAY_MS = 24 * 60 * 60 * 1000

/** The day of a time in UTC, such as `2026-11-23`; undefined if the calendar has no such day. */
export const dayOf = (at: string): string | undefined => {
  const day = at.slice(0, 10)
  return parseTime(day) === undefined ? undefined : day
}

export const dayAfter = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)

/** Invisible characters, line ends, and percent signs that would be read as an escape. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]|%(?=[0-9A-Fa-f]{2})/gu

/** A text on one line. Unsafe characters are percent-encoded, such as `%0A`, so URL decoding returns the text. */
export const percentEncoded = (text: string, more?: RegExp): string => {
  const encoded = text.replaceAll(UNSAFE, encode)
  return more ? encoded.replaceAll(more, encode) : encoded
}

const encode = (found: string): string =>
  [...Buffer.from(found)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
