import { accountStream, CATALOG_STREAM } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import type { Fault, Report } from '../fault.ts'
import { type OnProgress, readLog } from '../read-log.ts'
import { Chain } from './chain.ts'
import { Logins, Opening } from './identity.ts'
import { Keys } from './keys.ts'
import { Money } from './money.ts'
import { PriceList } from './price-list.ts'
import { Requests } from './requests.ts'
import type { AuditedEvent, Rule } from './rule.ts'
import { Runs } from './runs.ts'
import { Uploads } from './uploads.ts'
import { Webhooks } from './webhooks.ts'

export interface Verification {
  /** The position of the newest event that was checked. */
  head: Position
  events: number
  streams: number
  /** The time of the newest event; absent from an empty log. */
  newestAt?: string
  faults: Fault[]
  notes: Fault[]
}

export interface VerifyOptions {
  /** Checks only this account, and the catalog that its prices come from. */
  account?: string | undefined
  /** Whether positions have no gaps, as in the embedded log. */
  isDense: boolean
  onProgress?: OnProgress
}

/**
 * Checks everything that the log up to its present head must hold, and goes on after a fault to find the others.
 * Resolves to undefined if the log lacks the account that is to be checked.
 */
export const verifyLog = async (
  log: ReadableLog,
  { account, isDense, onProgress }: VerifyOptions,
): Promise<Verification | undefined> => {
  const head = await log.head()
  const verifier = new Verifier({ isWhole: account === undefined, isDense })
  const isMeant = (stream: string) =>
    account === undefined || stream === CATALOG_STREAM || stream === accountStream(account as AccountId)
  for await (const page of readLog(log, { head, onProgress }))
    for (const event of page) if (isMeant(event.stream)) verifier.take(event)
  return account === undefined || verifier.has(accountStream(account as AccountId)) ? verifier.end(head) : undefined
}

interface Stream {
  chain: Chain
  rules: Rule[]
}

class Verifier {
  readonly #isWhole: boolean
  readonly #isDense: boolean
  readonly #streams = new Map<string, Stream>()
  readonly #prices = new PriceList()
  readonly #logins = new Logins()
  readonly #found: Fault[] = []
  #position: Position = BEFORE_FIRST
  #events = 0
  #newestAt = ''

  constructor({ isWhole, isDense }: { isWhole: boolean; isDense: boolean }) {
    this.#isWhole = isWhole
    this.#isDense = isWhole && isDense
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
    if (!event) return
    if (event.metadata.at > this.#newestAt) this.#newestAt = event.metadata.at
    if (stream === CATALOG_STREAM) this.#prices.take(event)
    this.#logins.take(event, report)
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
    const all = [...this.#found, ...(this.#isWhole ? this.#logins.faults() : [])]
    return {
      ...{ head, events: this.#events, streams: this.#streams.size },
      ...(this.#newestAt && { newestAt: this.#newestAt }),
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
    const life = [new Runs(this.#prices), new Webhooks(), new Uploads()]
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
