import { LABELLED_PARTS, USAGE_PARTS, type UsagePart } from '../../../projections/usage.ts'
import type { Usage as UsageItem } from '../../../schemas/api/usage.ts'
import { type AccountId, DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS } from '../../../schemas/primitives.ts'
import { DAY_MS, dayOf } from '../../domain/days.ts'
import { fromMicros } from '../../domain/money.ts'
import { refuse } from '../../domain/refusal.ts'
import { OneAtATime } from '../../flow/one-at-a-time.ts'
import type { Clock } from '../../ports/clock.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type AccountCaller, modeOf } from '../caller.ts'
import type { Page, WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import { FirstGroups, type UsageCounts } from './first-groups.ts'
import { type Spending, type SpendingPart, Spendings } from './spending.ts'
import { UsageDays } from './usage-days.ts'

export interface UsageQuery {
  /** UTC days. `from` is included, `to` is not. */
  from?: string | undefined
  to?: string | undefined
  groupBy: readonly UsagePart[]
  limit: number
  cursor?: string | undefined
}

export interface SpendingQuery extends Days {
  by: SpendingPart
  /** The groups to name. The others are added up. */
  limit: number
}

/** A page of groups, with the days that they cover. */
export interface UsagePage extends Page<UsageCounts, string>, Days {
  groupBy: readonly UsagePart[]
}

/** Rows read at a time. They take a few milliseconds, during which no other work is done. */
const SLICE_ROWS = 200

/** Rows read for one page, in about a second: a year of 270 models and keys, or 100,000 labels. */
const MAX_USAGE_ROWS = 100_000

interface Dependencies {
  reads: Reads
  clock: Clock
  /** Tests lower these limits. */
  sliceRows?: number
  maxRows?: number
}

/** Adds up the runs of an account for its owner. */
export class Usage {
  readonly #dependencies: Dependencies
  readonly #days: UsageDays
  readonly #reading = new OneAtATime<AccountId>()

  readonly permissions = { list: 'read', spending: 'read', groups: 'read' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#days = new UsageDays({ sliceRows: SLICE_ROWS, ...dependencies })
  }

  /** A page of sums of the caller's runs. Groups are ordered by day, label, model and key. Rejects with Unavailable. */
  async list(caller: AccountCaller, query: UsageQuery, client?: WaitingClient): Promise<Answer<UsagePage>> {
    const { reads, clock } = this.#dependencies
    const days = daysOf(query, clock.nowMs())
    if ('refuse' in days) return days
    const ordered = LABELLED_PARTS.filter(part => query.groupBy.includes(part))
    const after = query.cursor === undefined ? undefined : placeIn(query.cursor, ordered)
    if (query.cursor !== undefined && after === undefined) return refuse('cursor_unknown')
    // Usage counts credits, and test runs use none.
    if (modeOf(caller).livemode === false) return answer({ ...days, groupBy: ordered, found: [], next: null })
    const { accountId } = caller
    await reads.ownWrites(accountId)
    return this.#reading.do(accountId, () => this.#read(accountId, { ...query, ...days, ordered, after }, client))
  }

  /**
   * What the caller spent on some days, by day and by one other part, the largest first. Reads the rows once. Rejects
   * with Unavailable.
   */
  async spending(
    { accountId }: AccountCaller,
    { from, to, by, limit }: SpendingQuery,
    client?: WaitingClient,
  ): Promise<Answer<Spending>> {
    const { reads, maxRows = MAX_USAGE_ROWS } = this.#dependencies
    await reads.ownWrites(accountId)
    const view = by === 'label' ? 'usageByLabel' : 'usage'
    return this.#reading.do(accountId, async () => {
      const sums = new Spendings(by)
      let count = 0
      for await (const { groups, rows } of this.#days.between(view, accountId, { from, to }, client)) {
        sums.add(groups)
        count += rows
        if (count >= maxRows) return refuse('usage_too_large', { limit: maxRows })
      }
      return answer(sums.largest(client?.signal.aborted ? 0 : limit))
    })
  }

  /**
   * The sums of each day, model and key, oldest first, of all runs or of those with a label, in as many days as a page
   * has. Rejects with Unavailable.
   */
  async groups(
    caller: AccountCaller,
    { label, ...days }: Days & { label?: string },
    client?: WaitingClient,
  ): Promise<Answer<UsageCounts[]>> {
    const { reads, clock, maxRows = MAX_USAGE_ROWS } = this.#dependencies
    const checked = daysOf(days, clock.nowMs())
    if ('refuse' in checked) return checked
    // Usage counts credits, and test runs use none.
    if (modeOf(caller).livemode === false) return answer([])
    const { accountId } = caller
    await reads.ownWrites(accountId)
    return this.#reading.do(accountId, async () => {
      const found: UsageCounts[] = []
      const read =
        label === undefined
          ? this.#days.between('usage', accountId, days, client)
          : this.#days.ofLabel(label, accountId, days, client)
      for await (const { groups } of read) {
        found.push(...groups)
        if (found.length >= maxRows) return refuse('usage_too_large', { limit: maxRows })
      }
      return answer(found)
    })
  }

  async #read(
    accountId: AccountId,
    { from, to, ordered, after, limit }: Days & { ordered: UsagePart[]; after: string | undefined; limit: number },
    client: WaitingClient | undefined,
  ): Promise<Answer<UsagePage>> {
    const { reads, clock, sliceRows = SLICE_ROWS, maxRows = MAX_USAGE_ROWS } = this.#dependencies
    const [view, parts] = ordered.includes('label')
      ? (['usageByLabel', LABELLED_PARTS] as const)
      : (['usage', USAGE_PARTS] as const)
    const prefix = `${accountId}/`
    // One group more than requested shows that there are more.
    const groups = new FirstGroups(ordered, limit + 1, after)
    const lead = leadOf(ordered, parts)
    const start = after && firstParts(after, lead)
    let place = prefix + (start && start > from ? start : from)
    for (let rows = 0; ; ) {
      const entries = await reads.list(view, BY_KEY, { prefix, after: place, before: prefix + to, limit: sliceRows })
      groups.add(entries.map(({ row }) => row))
      const last = entries.at(-1)
      if (!last || entries.length < sliceRows) break
      place = last.place
      // Groups before this row get no further rows.
      if (groups.isFullBefore(firstParts(place.slice(prefix.length), lead))) break
      rows += entries.length
      if (rows >= maxRows) return refuse('usage_too_large', { limit: maxRows })
      // Serves other requests between two reads.
      await (client?.nextTurn() ?? delay(clock, 0))
      if (client?.signal.aborted) break
    }
    const { first } = groups
    const shown = first.slice(0, limit)
    const next = first.length > limit ? cursorOf(shown.at(-1)?.place ?? '', ordered) : null
    return answer({ from, to, groupBy: ordered, found: shown.map(({ counts }) => counts), next })
  }
}

/** The number of requested parts with which the keys start. Rows of such groups lie together. */
const leadOf = (asked: readonly UsagePart[], parts: readonly UsagePart[]): number => {
  const other = parts.findIndex((part, index) => asked[index] !== part)
  return other < 0 ? parts.length : other
}

const firstParts = (place: string, count: number): string =>
  place
    .split('/')
    .slice(0, count)
    .map(part => `${part}/`)
    .join('')

/** The cursor after a group: the requested parts, and the group's place. */
const cursorOf = (place: string, parts: readonly UsagePart[]): string =>
  Buffer.from(`${parts.join()}/${place}`).toString('base64url')

/** Checked because a client may make up a cursor. */
const PLACE = /^[!-~]+$/

/** The place in a cursor; undefined if the cursor is not for these parts. */
const placeIn = (cursor: string, parts: readonly UsagePart[]): string | undefined => {
  const [asked, ...texts] = Buffer.from(cursor, 'base64url').toString().split('/')
  const isOfParts = asked === parts.join() && texts.length === parts.length + 1 && texts.at(-1) === ''
  return isOfParts && parts.length > 0 && PLACE.test(texts.join('/')) ? texts.join('/') : undefined
}

/** UTC days. `from` is included, `to` is not. */
export interface Days {
  from: string
  to: string
}

/** Earlier years have more than four digits, unlike the times of the log. */
const FIRST_DAY_MS = Date.parse('0000-01-01')

/** The requested days; by default, the days up to and including today. */
export const daysOf = (
  { from, to }: Partial<Record<keyof Days, string | undefined>>,
  nowMs: number,
): Days | Refused => {
  const end = to ?? dayOf(nowMs + DAY_MS)
  const start = from ?? dayOf(Math.max(FIRST_DAY_MS, Date.parse(end) - DEFAULT_USAGE_DAYS * DAY_MS))
  const count = (Date.parse(end) - Date.parse(start)) / DAY_MS
  if (count < 1 || count > MAX_USAGE_DAYS) return refuse('usage_days_invalid', { maxDays: MAX_USAGE_DAYS })
  return { from: start, to: end }
}

/** The API form of a group, with the requested parts. */
export const usageItem = (counts: UsageCounts, groupBy: readonly UsagePart[]): UsageItem => {
  const { day, model = null, keyId = null, label = null, runs, failures } = counts
  const { chargedMicros, refundedMicros, releasedMicros } = counts
  return {
    object: 'usage',
    ...(groupBy.includes('day') && day !== undefined && { day }),
    ...(groupBy.includes('model') && { model }),
    ...(groupBy.includes('key') && { key_id: keyId }),
    ...(groupBy.includes('label') && { label }),
    runs,
    failures,
    credits_charged: fromMicros(chargedMicros),
    credits_refunded: fromMicros(refundedMicros),
    credits_released: fromMicros(releasedMicros),
    credits: fromMicros(chargedMicros - refundedMicros - releasedMicros),
  }
}
