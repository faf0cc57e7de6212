import microdiff from 'microdiff'

/** A difference between two JSON values. Values are JSON; null where one has none. */
export interface JsonDifference {
  /** The names and numbers that lead to the value, such as `endpoints.0.price.baseMicros`. */
  place: string
  from: string | null
  to: string | null
}

/** The differences between two JSON objects. */
export const jsonDiff = (before: object, after: object): JsonDifference[] =>
  microdiff(before as Record<string, unknown>, after as Record<string, unknown>).map(difference => ({
    place: difference.path.join('.'),
    from: 'oldValue' in difference ? JSON.stringify(difference.oldValue) : null,
    to: 'value' in difference ? JSON.stringify(difference.value) : null,
  }))
