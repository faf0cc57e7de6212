import { LRUCache } from 'lru-cache'
import { usagePlace } from '../../../projections/usage.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { UsageRow } from '../../../schemas/views.ts'
import { DAY_MS, dayOf } from '../../domain/days.ts'
import type { Clock } from '../../ports/clock.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import type { WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'

type UsageView = 'usage' | 'usageByLabel'

/** Groups kept in memory, a few hundred bytes each: a year of 20 keys with three models each, and of 80 labels. */
const MAX_KEPT = 60_000

/** Days of a label that are looked up at a time, in a few milliseconds. */
const DAYS_AT_A_TIME = 50

interface Dependencies {
  reads: Reads
  clock: Clock
  /** Rows read at a time. */
  sliceRows: number
}

/** The sums of a day, and how many rows they come from. */
export interface UsageDay {
  day: string
  groups: readonly UsageRow[]
  rows: number
}

/** Reads the rows of an account by days, and keeps them until one changes: those of past days for good. */
export class UsageDays {
  readonly #dependencies: Dependencies
  readonly #kept = new LRUCache<string, UsageDay>({ maxSize: MAX_KEPT, sizeCalculation: day => day.groups.length + 1 })
  #changes = 0

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    dependencies.reads.changes.subscribe(changes => {
      this.#changes += 1
      if (changes === 'unknown') this.#kept.clear()
      else for (const { view, key } of changes) if (isUsage(view)) this.#kept.delete(`${view}/${dayIn(key)}`)
    })
  }

  /**
   * The days from one up to another, oldest first; groups by label have no other part. Ends early for a client that has
   * disconnected. Rejects with Unavailable.
   */
  async *between(
    view: UsageView,
    accountId: AccountId,
    { from, to }: { from: string; to: string },
    client?: WaitingClient,
  ): AsyncGenerator<UsageDay> {
    const placeOf = (day: string) => `${view}/${accountId}/${day}`
    for (let day = from; day < to; ) {
      const kept = this.#kept.get(placeOf(day))
      if (kept) {
        yield kept
        day = dayAfter(day)
        continue
      }
      let end = dayAfter(day)
      while (end < to && !this.#kept.has(placeOf(end))) end = dayAfter(end)
      for await (const read of this.#read(view, accountId, { from: day, to: end }, client)) {
        if (read.isCurrent) this.#kept.set(placeOf(read.day), read)
        yield read
      }
      if (client?.signal.aborted) return
      day = end
    }
  }

  /** The days of a label. Its rows of a day lie together, so those of other labels are not read. */
  async *ofLabel(
    label: string,
    accountId: AccountId,
    { from, to }: { from: string; to: string },
    client?: WaitingClient,
  ): AsyncGenerator<Pick<UsageDay, 'day' | 'groups'>> {
    const { reads, clock } = this.#dependencies
    const rowsOf = async (day: string) => {
      const groups: UsageRow[] = []
      const prefix = `${accountId}/${usagePlace({ day, label }, ['day', 'label'])}`
      for await (const { row } of reads.scan('usageByLabel', BY_KEY, { prefix })) groups.push(row)
      return { day, groups }
    }
    for (let day = from; day < to; ) {
      const days: string[] = []
      for (; day < to && days.length < DAYS_AT_A_TIME; day = dayAfter(day)) days.push(day)
      yield* await Promise.all(days.map(rowsOf))
      await (client?.nextTurn() ?? delay(clock, 0))
      if (client?.signal.aborted) return
    }
  }

  /** A day is current if nothing has changed while it was read. */
  async *#read(
    view: UsageView,
    accountId: AccountId,
    { from, to }: { from: string; to: string },
    client: WaitingClient | undefined,
  ): AsyncGenerator<UsageDay & { isCurrent: boolean }> {
    const { reads, clock, sliceRows } = this.#dependencies
    const prefix = `${accountId}/`
    let after = prefix + from
    let changes = this.#changes
    let [day, rows, changesBefore] = [from, [] as UsageRow[], changes]
    const ended = () => ({
      ...{ day, rows: rows.length, groups: view === 'usageByLabel' ? byLabel(rows) : rows },
      isCurrent: changesBefore === this.#changes,
    })
    while (true) {
      changes = this.#changes
      const entries = await reads.list(view, BY_KEY, { prefix, after, before: prefix + to, limit: sliceRows })
      for (const { row } of entries) {
        for (; day < row.day; [day, rows, changesBefore] = [dayAfter(day), [], changes]) yield ended()
        rows.push(row)
      }
      if (entries.length < sliceRows) break
      after = entries.at(-1)?.place ?? after
      // Serves other requests between two reads.
      await (client?.nextTurn() ?? delay(clock, 0))
      if (client?.signal.aborted) return
    }
    for (; day < to; [day, rows, changesBefore] = [dayAfter(day), [], changes]) yield ended()
  }
}

const isUsage = (view: string): boolean => view === 'usage' || view === 'usageByLabel'

/** The account and the day, with which the keys of both views begin. */
const dayIn = (key: string): string => key.split('/', 2).join('/')

const dayAfter = (day: string): string => dayOf(Date.parse(day) + DAY_MS)

/** The sums of each label. Labels are far fewer than their combinations with models and keys. */
const byLabel = (rows: readonly UsageRow[]): UsageRow[] => {
  const sums = new Map<string | undefined, UsageRow>()
  for (const { model: _, keyId: __, ...row } of rows) {
    const sum = sums.get(row.label)
    if (!sum) sums.set(row.label, row)
    else for (const name of AMOUNTS) sum[name] += row[name]
  }
  return [...sums.values()]
}

const AMOUNTS = ['runs', 'failures', 'chargedMicros', 'refundedMicros', 'releasedMicros'] as const
