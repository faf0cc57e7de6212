import { costOf } from '../../schemas/account-events.ts'
import type { Position, RawEvent } from '../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../ports/event-log.ts'
import { eventCodec } from '../services/event-codec.ts'
import { type AsOf, hadHappened } from './as-of.ts'
import { Books, type LedgerLine } from './books.ts'
import type { Split } from './lots.ts'
import { type OnProgress, readLog } from './read-log.ts'

/** The parts of a trial balance, in display order. */
const PARTS = [
  'granted',
  'withdrawn',
  'earned',
  'refunded',
  'released',
  'expired',
  'in flight',
  'owed to customers',
] as const
export type Part = (typeof PARTS)[number]

export interface TrialBalance {
  /** The position and time of the newest event that was read; an empty log has no time. */
  position: Position
  newestAt?: string
  accounts: number
  lines: TrialBalanceLine[]
  /** Zero, unless the log does not add up. */
  sum: SplitSum
  costs: ProviderSum[]
  /** Runs for which a provider may charge an unknown amount. */
  unknownCosts: number
}

/** A provider's charges for runs in one currency, in millionths: an expense, and a debt to the provider. */
export interface ProviderSum {
  provider: string
  currency: string
  amountMicros: bigint
}

/** The credits of all accounts together may exceed the exact integers of a double. */
export interface SplitSum {
  freeMicros: bigint
  paidMicros: bigint
}

/**
 * Credits of one kind. Credits given to customers are negative, and credits held or spent are positive, so all lines
 * add up to zero.
 */
interface TrialBalanceLine {
  part: Part
  /** The kind of a grant or withdrawal, or the family of runs; empty for other parts. */
  name: string
  credits: SplitSum
}

/**
 * Adds up the credits of all accounts: granted and withdrawn by kind; earned, refunded and released by family; held by
 * runs that have not ended; and owed to customers. Also adds up the charges of providers. Throws Damaged if an account
 * does not add up.
 */
export const trialBalance = async (
  log: ReadableLog,
  { asOf, onProgress }: { asOf?: AsOf | undefined; onProgress?: OnProgress } = {},
): Promise<TrialBalance> => {
  const books = new Books()
  const sums = new Sums()
  const costs = new ProviderCosts()
  let position = BEFORE_FIRST
  let newestAt: string | undefined
  for await (const page of readLog(log, { onProgress }))
    for (const event of page) {
      if (asOf && !hadHappened(event, asOf)) continue
      position = event.position
      const { at } = event.metadata as { at: string }
      if (newestAt === undefined || at > newestAt) newestAt = at
      costs.take(event)
      const line = books.take(event)
      if (line) sums.add(...placeOf(line), line.change, -1)
    }
  for (const book of books.accounts.values()) {
    sums.add('owed to customers', '', book.balance, 1)
    for (const { model, held } of book.openRuns()) {
      sums.add('earned', model, held, -1)
      sums.add('in flight', '', held, 1)
    }
  }
  const accounts = books.accounts.size
  return { position, ...(newestAt && { newestAt }), accounts, lines: sums.lines(), sum: sums.total(), ...costs.sums() }
}

const placeOf = ({ kind, grantKind = 'courtesy', run }: LedgerLine): [Part, string] => {
  switch (kind) {
    case 'grant':
      return ['granted', grantKind]
    case 'withdrawal':
      return ['withdrawn', grantKind]
    case 'debit':
      return ['earned', run?.model ?? '']
    case 'refund':
      return ['refunded', run?.model ?? '']
    case 'release':
      return ['released', run?.model ?? '']
    case 'expiry':
      return ['expired', '']
  }
}

class Sums {
  readonly #byPart = new Map<Part, Map<string, SplitSum>>(PARTS.map(part => [part, new Map()]))

  add(part: Part, name: string, { freeMicros, paidMicros }: Split, sign: 1 | -1) {
    const names = this.#byPart.get(part) as Map<string, SplitSum>
    const sum = names.get(name) ?? { freeMicros: 0n, paidMicros: 0n }
    sum.freeMicros += BigInt(sign * freeMicros)
    sum.paidMicros += BigInt(sign * paidMicros)
    names.set(name, sum)
  }

  /** By part, then by name. */
  lines(): TrialBalanceLine[] {
    return [...this.#byPart].flatMap(([part, names]) =>
      [...names].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, credits]) => ({ part, name, credits })),
    )
  }

  total(): SplitSum {
    const total = { freeMicros: 0n, paidMicros: 0n }
    for (const { credits } of this.lines()) {
      total.freeMicros += credits.freeMicros
      total.paidMicros += credits.paidMicros
    }
    return total
  }
}

class ProviderCosts {
  readonly #byKey = new Map<string, ProviderSum>()
  #unknown = 0

  take(raw: RawEvent) {
    const cost = costOf(raw) && costOf(eventCodec.decode(raw))
    if (!cost) return
    const { provider, amountMicros, currency } = cost
    if (amountMicros === undefined || currency === undefined) {
      this.#unknown += 1
      return
    }
    const key = `${provider} ${currency}`
    const sum = this.#byKey.get(key) ?? { provider, currency, amountMicros: 0n }
    sum.amountMicros += BigInt(amountMicros)
    this.#byKey.set(key, sum)
  }

  /** By provider and currency. */
  sums() {
    const costs = [...this.#byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum)
    return { costs, unknownCosts: this.#unknown }
  }
}
