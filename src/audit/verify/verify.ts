import { accountStream, CATALOG_STREAM, PERIODS_STREAM, SEALS_STREAM } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import type { SealPlace } from '../../ports/seal-sink.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { concerns } from '../concerns.ts'
import type { Fault, Report } from '../fault.ts'
import { type OnProgress, readLog } from '../read-log.ts'
import { Auditors } from './auditors.ts'
import { Chain } from './chain.ts'
import { Logins, Opening } from './identity.ts'
import { KeptSeals } from './kept-seals.ts'
import { Keys } from './keys.ts'
import { Money } from './money.ts'
import { Periods } from './periods.ts'
import { PriceList } from './price-list.ts'
import { ProviderCosts } from './provider-costs.ts'
import { Requests } from './requests.ts'
import type { AuditedEvent, Rule } from './rule.ts'
import { Runs } from './runs.ts'
import { coveredIn, type NewestSeal, Seals } from './seals.ts'
import { Uploads } from './uploads.ts'
import { Webhooks } from './webhooks.ts'

export interface Verification {
  /** The position of the newest event that was checked. */
  head: Position
  events: number
  streams: number
  /** The time of the newest event; absent from an empty log. */
  newestAt?: string
  /** The newest seal; absent where there is none, or one account was checked. */
  seal?: NewestSeal
  /** Events that no seal covers. */
  unsealed: number
  faults: Fault[]
  notes: Fault[]
}

export interface VerifyOptions {
  /** Checks only this account, and the catalog that its prices come from. */
  account?: string | undefined
  /** Whether positions have no gaps, as in the embedded log. */
  isDense: boolean
  /** Seals that were kept elsewhere, which the log must hold. */
  kept?: readonly SealPlace[] | undefined
  onProgress?: OnProgress
}

/**
 * Checks everything that the log up to its present head must hold, and goes on after a fault to find the others.
 * Resolves to undefined if the log lacks the account that is to be checked.
 */
export const verifyLog = async (
  log: ReadableLog,
  { account, isDense, kept = [], onProgress }: VerifyOptions,
): Promise<Verification | undefined> => {
  const head = await log.head()
  const isWhole = account === undefined
  const verifier = new Verifier({ isWhole, isDense, kept, covered: isWhole ? await coveredIn(log) : [] })
  for await (const page of readLog(log, { head, onProgress }))
    for (const event of page) if (concerns(event.stream, account)) verifier.take(event)
  return account === undefined || verifier.has(accountStream(account as AccountId)) ? verifier.end(head) : undefined
}

interface Stream {
  chain: Chain
  rules: Rule[]
}

interface VerifierOptions {
  isWhole: boolean
  isDense: boolean
  kept: readonly SealPlace[]
  covered: number[]
}

class Verifier {
  readonly #isWhole: boolean
  readonly #isDense: boolean
  readonly #streams = new Map<string, Stream>()
  readonly #prices = new PriceList()
  readonly #logins = new Logins()
  readonly #auditors = new Auditors()
  readonly #seals: Seals
  readonly #kept: KeptSeals
  readonly #periods = new Periods()
  readonly #found: Fault[] = []
  #position: Position = BEFORE_FIRST
  #events = 0
  #newestAt = ''

  constructor({ isWhole, isDense, kept, covered }: VerifierOptions) {
    this.#isWhole = isWhole
    this.#isDense = isWhole && isDense
    this.#kept = new KeptSeals(kept)
    this.#seals = new Seals(covered)
  }

  take(raw: RawEvent) {
    const { stream, revision, position, id } = raw
    const report: Report = (what, isNote) =>
      this.#found.push({ stream, revision, position, eventId: id, what, ...(isNote && { isNote }) })
    this.#events += 1
    const expected = this.#position + 1
    if (position < expected) report(`its position is not after ${this.#position}`)
    else if (this.#isDense && position > expected) report(`${position - expected} events before it are missing`)
    this.#position = position
    const { chain, rules } = this.#streamOf(stream)
    chain.take(raw, report)
    const event = decoded(raw, report)
    if (this.#isWhole) this.#seals.take(raw, event, report)
    if (stream === SEALS_STREAM) this.#kept.take(raw, report)
    if (!event) return
    if (event.metadata.at > this.#newestAt) this.#newestAt = event.metadata.at
    if (stream === CATALOG_STREAM) this.#prices.take(event)
    if (stream === PERIODS_STREAM) this.#periods.take(event, number => this.#seals.find(number), report)
    this.#logins.take(event, report)
    this.#auditors.take(event, report)
    for (const rule of rules) rule.take(event, report)
  }

  has(stream: string): boolean {
    return this.#streams.has(stream)
  }

  end(head: Position): Verification {
    const newestAtMs = Date.parse(this.#newestAt)
    for (const [stream, { chain, rules }] of this.#streams) {
      const report: Report = what => this.#found.push({ stream, revision: chain.revision, what })
      for (const rule of rules) rule.end?.(newestAtMs, report)
    }
    const { newest } = this.#seals
    this.#kept.end(what => this.#found.push({ stream: SEALS_STREAM, what }))
    const all = [...this.#found, ...(this.#isWhole ? this.#logins.faults() : [])]
    return {
      ...{ head, events: this.#events, streams: this.#streams.size },
      ...(this.#newestAt && { newestAt: this.#newestAt }),
      ...(newest && { seal: newest }),
      unsealed: this.#seals.events - (newest?.events ?? 0),
      faults: all.filter(({ isNote }) => !isNote),
      notes: all.filter(({ isNote }) => isNote),
    }
  }

  #streamOf(name: string): Stream {
    const known = this.#streams.get(name)
    if (known) return known
    const stream = { chain: new Chain(), rules: this.#rulesOf(name) }
    this.#streams.set(name, stream)
    return stream
  }

  #rulesOf(stream: string): Rule[] {
    if (!stream.startsWith('account-')) return []
    const life = [new Runs(this.#prices), new ProviderCosts(), new Webhooks(), new Uploads()]
    return [new Opening(stream), new Keys(), new Money(), new Requests(), ...life]
  }
}

/** The event in its present shape; undefined if it has none. */
const decoded = (raw: RawEvent, report: Report): AuditedEvent | undefined => {
  try {
    return eventCodec.decode(raw) as unknown as AuditedEvent
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    report(error.message.slice(error.message.indexOf(': ') + 2))
    return undefined
  }
}
