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
import type { AuditedEvent, Fault, Report, Rule } from '../fault.ts'
import type { KeptSeal } from '../kept-seals.ts'
import { concerns, type OnProgress, upTo } from '../read-log.ts'
import { Erasure, Money, Opening, OperatorOnly, Suspension, Uploads } from './account.ts'
import { Auditors } from './auditors.ts'
import { Chain } from './chain.ts'
import { KeyLimits, Keys, Modes } from './keys.ts'
import { Lots } from './lots.ts'
import { NamedBudgets } from './named-budgets.ts'
import { Alerts, Notices } from './notices.ts'
import { PriceList } from './prices.ts'
import { checkAttempts, checkChoice, ProviderCosts } from './providers.ts'
import { Purchases } from './purchases.ts'
import { Requests, Runs } from './runs.ts'
import { coveredIn, KeptSeals, type NewestSeal, Periods, Seals } from './seals.ts'
import { type LoginFact, Logins, Sessions } from './sign-in.ts'
import { TopUps } from './top-ups.ts'
import { WebhookSecrets, Webhooks, WebhookTests } from './webhooks.ts'
import { Withdrawals } from './withdrawals.ts'

export interface PartOptions {
  part: Part
  /** The newest event to check: the same for all parts. */
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
  /** The number of the stream's first event in the log. */
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
    // Events that this part needs were not skipped.
    const raw = event as RawEvent
    if (isOwn(raw.stream)) return this.#check(raw, before)
    // Another part reports the faults of these events.
    if (hasSeals) this.#seals.take(raw, undefined, ignore)
    const priced = raw.stream === CATALOG_STREAM && decoded(raw, ignore)
    if (priced) this.#prices.take(priced)
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
    if (stream === CATALOG_STREAM) this.#prices.take(event)
    if (stream === PERIODS_STREAM) this.#periods.take(event, number => this.#seals.find(number), report)
    this.#logins.take(event, at, report)
    this.#auditors.take(event, report)
    checkChoice(event, report)
    checkAttempts(event, report)
    for (const rule of rules) rule.take(event, report)
  }

  #streamOf(name: string): Stream {
    const known = this.#streams.get(name)
    if (known) return known
    const stream = { chain: new Chain(), rules: this.#rulesOf(name), since: this.#read }
    this.#streams.set(name, stream)
    return stream
  }

  #rulesOf(stream: string): Rule[] {
    if (stream === OPERATOR_STREAM) return [new Alerts()]
    if (!stream.startsWith('account-')) return []
    const life = [new Runs(this.#prices), new ProviderCosts(), new Uploads()]
    const deliveries = [new Webhooks(), new WebhookSecrets(), new WebhookTests(), new Notices()]
    const keys = [new Keys(), new KeyLimits(), new NamedBudgets(), new Modes()]
    const holder = [new Opening(stream), new Suspension(), new Erasure(), new OperatorOnly(), ...keys, new Sessions()]
    return [
      ...holder,
      new Money(),
      new Lots(),
      new Purchases(),
      new Withdrawals(),
      new TopUps(),
      new Requests(),
      ...life,
      ...deliveries,
    ]
  }
}

const ignore = () => undefined

/** The event in its current shape; undefined if it cannot be read. */
const decoded = (raw: RawEvent, report: Report): AuditedEvent | undefined => {
  try {
    return eventCodec.decode(raw) as unknown as AuditedEvent
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    report(error.message.slice(error.message.indexOf(': ') + 2))
    return undefined
  }
}

/** A fault, and the number of the event that orders it among the faults of other parts. */
export interface Found {
  at: number
  fault: Fault
}

/** A fault at the end of a stream. `at` is the number of the stream's first event. */
interface FoundAtEnd extends Found {
  /** It is a fault only if the log has an event after this time. */
  afterMs?: number
}

/** The findings of one part. */
export interface Findings {
  /** The number of events that were read. This part has checked some of them. */
  read: number
  events: number
  streams: number
  /** Whether a single account is verified, and the log lacks it. */
  lacksAccount: boolean
  /** The time of the newest event that this part has checked; empty without events. */
  newestAt: string
  found: Found[]
  foundAtEnd: FoundAtEnd[]
  /** Kept seals that the log lacks. */
  lost: Fault[]
  /** Whether the log lacks a kept seal that may be forged. */
  isInDoubt: boolean
  logins: LoginFact[]
  /** Only the first part has the next two. */
  seal?: NewestSeal
  unsealed: number
}

/** One of the parts of a verification. Each reads the whole log and checks its share of the streams. */
export interface Part {
  /** Counted from 0. */
  number: number
  of: number
}

/**
 * The first part also reads every event for the tree of the seals. This is the share of that work in all checks. It
 * balances the parts, so that none waits for another.
 */
const SEALS_WORK = 0.28

/** The part that checks a stream. Streams that refer to each other's events belong to the first part. */
export const partOf = (stream: string, parts: number): number => {
  if (parts === 1 || !/^(account|login)-/.test(stream)) return 0
  const first = Math.max(0, (1 + SEALS_WORK) / parts - SEALS_WORK)
  const place = placeOf(stream)
  return place < first ? 0 : 1 + Math.floor(((place - first) / (1 - first)) * (parts - 1))
}

/** A number from 0 to 1 that spreads streams evenly: FNV-1a, which is far cheaper than a digest. */
const placeOf = (stream: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < stream.length; at++) hash = Math.imul(hash ^ stream.charCodeAt(at), 0x01000193)
  // The last characters have hardly changed the upper bits, which decide.
  return (Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0) / 2 ** 32
}
