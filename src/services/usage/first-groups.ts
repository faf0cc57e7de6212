import { type UsagePart, usagePlace } from '../../../projections/usage.ts'
import type { UsageRow } from '../../../schemas/views.ts'

/** The sum of some rows, with the parts by which they were grouped. */
export type UsageCounts = Pick<UsageRow, 'runs' | 'failures' | 'chargedMicros' | 'refundedMicros' | 'releasedMicros'> &
  Partial<Pick<UsageRow, 'day' | 'model' | 'keyId' | 'label'>>

interface Group {
  place: string
  counts: UsageCounts
}

/**
 * Adds up rows by some of their parts. Keeps only the first groups after a place, so that a page takes little memory,
 * however many groups there are.
 */
export class FirstGroups {
  readonly #parts: readonly UsagePart[]
  readonly #limit: number
  readonly #after: string | undefined
  #groups = new Map<string, Group>()

  constructor(parts: readonly UsagePart[], limit: number, after: string | undefined) {
    this.#parts = parts
    this.#limit = limit
    this.#after = after
    // A total exists even without any use.
    if (parts.length === 0) this.#groups.set('', { place: '', counts: empty })
  }

  add(rows: UsageRow[]) {
    for (const row of rows) {
      const place = usagePlace(row, this.#parts)
      if (this.#after !== undefined && place <= this.#after) continue
      const counts = this.#groups.get(place)?.counts ?? { ...empty, ...partsOf(row, this.#parts) }
      this.#groups.set(place, { place, counts: plus(counts, row) })
    }
    // A group that is dropped here cannot be among the first groups later.
    if (this.#groups.size > this.#limit) this.#groups = new Map(this.#sorted().map(group => [group.place, group]))
  }

  /** The first groups in the order of their places. */
  get first(): Group[] {
    return this.#sorted()
  }

  /** Whether the limit is reached, and all groups have a place before this one. */
  isFullBefore(place: string): boolean {
    return this.#groups.size >= this.#limit && this.#sorted().every(group => group.place < place)
  }

  #sorted(): Group[] {
    const groups = [...this.#groups.values()].sort((a, b) => (a.place < b.place ? -1 : 1))
    return groups.slice(0, this.#limit)
  }
}

const empty: UsageCounts = { runs: 0, failures: 0, chargedMicros: 0, refundedMicros: 0, releasedMicros: 0 }

const partsOf = ({ day, model, keyId, label }: UsageRow, parts: readonly UsagePart[]): Partial<UsageCounts> => ({
  ...(parts.includes('day') && { day }),
  ...(parts.includes('model') && model !== undefined && { model }),
  ...(parts.includes('key') && keyId && { keyId }),
  ...(parts.includes('label') && label !== undefined && { label }),
})

const plus = (counts: UsageCounts, row: UsageRow): UsageCounts => ({
  ...counts,
  runs: counts.runs + row.runs,
  failures: counts.failures + row.failures,
  chargedMicros: counts.chargedMicros + row.chargedMicros,
  refundedMicros: counts.refundedMicros + row.refundedMicros,
  releasedMicros: counts.releasedMicros + row.releasedMicros,
})
