import microdiff from 'microdiff'
import type { Family } from '../../../schemas/catalog.ts'

/** A difference between two forms of a family. Values are JSON; null where a form has none. */
export interface FamilyDifference {
  /** The names and numbers that lead to the value, such as `endpoints.0.price.baseMicros`. */
  place: string
  from: string | null
  to: string | null
}

/** The differences between two forms of a family. A new family differs in all that it has. */
export const familyDiff = (before: Family | undefined, after: Family): FamilyDifference[] =>
  microdiff(before ?? {}, after).map(difference => ({
    place: difference.path.join('.'),
    from: 'oldValue' in difference ? JSON.stringify(difference.oldValue) : null,
    to: 'value' in difference ? JSON.stringify(difference.value) : null,
  }))
