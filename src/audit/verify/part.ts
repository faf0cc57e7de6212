import {
  accountStream,
  CATALOG_STREAM,
  OPERATOR_STREAM,
  PERIODS_STREAM,
  SEALS_STREAM,
} from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type PassedEvent, type ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { concerns } from '../concerns.ts'
import type { Fault, Report } from '../fault.ts'
import { type OnProgress, upTo } from '../read-log.ts'
import type { KeptSeal } from '../seals/kept-seal.ts'
import { Auditors } from './auditors.ts'
import { Chain } from './chain.ts'
import { checkChoice } from './choices.ts'
import type { Findings, Found, FoundAtEnd } from './findings.ts'
import { KeptSeals } from './kept-seals.ts'
import { KeyLimits } from './key-limits.ts'
import { Keys } from './keys.ts'
import { Limits } from './limits.ts'
import { Logins } from './logins.ts'
import { Modes } from './modes.ts'
import { Money } from './money.ts'
import { Notices } from './notices.ts'
import { Opening } from './opening.ts'
import { OperatorNotices } from './operator-notices.ts'
import { Periods } from './periods.ts'
import { PriceList } from './price-list.ts'
import { ProviderCosts } from './provider-costs.ts'
import { Requests } from './requests.ts'
import type { AuditedEvent, Rule } from './rule.ts'
import { Runs } from './runs.ts'
import { coveredIn, Seals } from './seals.ts'
import { Sessions } from './sessions.ts'
import { type Part, partOf } from './share.ts'
import { Suspension } from './suspension.ts'
import { Uploads } from './uploads.ts'
import { WebhookSecrets } from './webhook-secrets.ts'
import { WebhookTests } from './webhook-tests.ts'
import { Webhooks } from './webhooks.ts'

export interface PartOptions {
  part: Part
  /** The newest event that is checked: the same for all parts. */
  head: Position
  account?: string | undefined
  isDense: boolean
  kept?: readonly KeptSeal[] | undefined
  onProgress?: OnProgress | undefined
}

/** Checks the streams of one part of the log. */
export const verifyPart = async (
  log: ReadableLog,
  { part, head, account, isDense, kept = [], onProgress }: PartOptions,
): Promise<Findings> => {
  const hasSeals = account === undefined && part.number === 0
  const isOwn = (stream: string) => partOf(stream, part.of) === part.number
  const isWanted = (stream: string) =>
    hasSeals || stream === CATALOG_STREAM || (isOwn(stream) && concerns(stream, account))
  const covered = hasSeals ? await coveredIn(log) : []
  const checks = new Checks({ isOwn, account, isDense, hasSeals, kept: hasSeals ? kept : [], covered })
  const pages = log.skimAll?.(BEFORE_FIRST, isWanted) ?? log.readAll(BEFORE_FIRST)
  for await (const page of upTo(head, pages, onProgress))
    for (const event of page) if (concerns(event.stream, account)) checks.take(event)
  return checks.end()
}

interface Stream {
  chain: Chain
  rules: Rule[]
  /** The number of its first event in the log. */
  since: number
}

interface ChecksOptions {
  isOwn(stream: string): boolean
  account: string | undefined
  isDense: boolean
  hasSeals: boolean
  kept: readonly KeptSeal[]
  covered: number[]
}

class Checks {
  readonly #options: ChecksOptions
  readonly #streams = new Map<string, Stream>()
  readonly #prices = new PriceList()
  readonly #logins = new Logins()
  readonly #auditors = new Auditors()
  readonly #seals: Seals
  readonly #kept: KeptSeals
  readonly #periods = new Periods()
  readonly #found: Found[] = []
  #position: Position = BEFORE_FIRST
  #read = 0
  #events = 0
  #newestAt = ''

  constructor(options: ChecksOptions) {
    this.#options = options
    this.#kept = new KeptSeals(options.kept)
    this.#seals = new Seals(options.covered)
  }

  take(event: RawEvent | PassedEvent) {
    const { isOwn, hasSeals } = this.#options
    const before = this.#position
    this.#position = event.position
    this.#read += 1
    // Those that are needed here were not passed over.
    const raw = event as RawEvent
    if (isOwn(raw.stream)) return this.#check(raw, before)
    // Another part reports the faults of these.
    if (hasSeals) this.#seals.take(raw, undefined, ignore)
    if (raw.stream === CATALOG_STREAM) this.#takePrices(decoded(raw, ignore))
  }

  end(): Findings {
    const { account } = this.#options
    const foundAtEnd: FoundAtEnd[] = []
    for (const [stream, { chain, rules, since: at }] of this.#streams)
      for (const rule of rules)
        rule.end?.((what, afterMs) => {
          const fault = { stream, revision: chain.revision, what }
          foundAtEnd.push({ at, fault, ...(afterMs !== undefined && { afterMs }) })
        })
    const lost: Fault[] = []
    this.#kept.end((what, isNote) => lost.push({ stream: SEALS_STREAM, what, ...(isNote && { isNote }) }))
    const { newest } = this.#seals
    return {
      ...{ read: this.#read, events: this.#events, streams: this.#streams.size, newestAt: this.#newestAt },
      lacksAccount: account !== undefined && !this.#streams.has(accountStream(account as AccountId)),
      ...{
        found: this.#found,
        foundAtEnd,
        lost,
        isInDoubt: this.#kept.isInDoubt,
        logins: account === undefined ? this.#logins.facts : [],
      },
      ...(newest && { seal: newest }),
      unsealed: this.#seals.events - (newest?.events ?? 0),
    }
  }

  #check(raw: RawEvent, before: Position) {
    const { account, isDense, hasSeals } = this.#options
    const { stream, revision, position, id } = raw
    const at = this.#read
    const report: Report = (what, isNote) =>
      this.#found.push({ at, fault: { stream, revision, position, eventId: id, what, ...(isNote && { isNote }) } })
    this.#events += 1
    const missing = position - before - 1
    if (missing < 0) report(`its position is not after ${before}`)
    else if (account === undefined && isDense && missing > 0) report(`${missing} events before it are missing`)
    const { chain, rules } = this.#streamOf(stream)
    chain.take(raw, report)
    const event = decoded(raw, report)
    if (hasSeals) this.#seals.take(raw, event, report)
    if (stream === SEALS_STREAM) this.#kept.take(revision, event, report)
    if (!event) return
    if (event.metadata.at > this.#newestAt) this.#newestAt = event.metadata.at
    if (stream === CATALOG_STREAM) this.#takePrices(event)
    if (stream === PERIODS_STREAM) this.#periods.take(event, number => this.#seals.find(number), report)
    this.#logins.take(event, at, report)
    this.#auditors.take(event, report)
    checkChoice(event, report)
    for (const rule of rules) rule.take(event, report)
  }

  #takePrices(event: AuditedEvent | undefined) {
    if (event) this.#prices.take(event)
  }

  #streamOf(name: string): Stream {
    const known = this.#streams.get(name)
    if (known) return known
    const stream = { chain: new Chain(), rules: this.#rulesOf(name), since: this.#read }
    this.#streams.set(name, stream)
    return stream
  }

  #rulesOf(stream: string): Rule[] {
    if (stream === OPERATOR_STREAM) return [new OperatorNotices()]
    if (!stream.startsWith('account-')) return []
    const life = [new Runs(this.#prices), new ProviderCosts(), new Uploads()]
    const told = [new Webhooks(), new WebhookSecrets(), new WebhookTests(), new Notices()]
    const keys = [new Keys(), new KeyLimits(), new Modes()]
    const holder = [new Opening(stream), new Suspension(), new Limits(), ...keys, new Sessions()]
    return [...holder, new Money(), new Requests(), ...life, ...told]
  }
}

const ignore = () => undefined

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
