interface Limit {
  maxSize: number
  sizeCalculation: () => number
}

/** The limit of an LRU cache as a number of entries. `max` would reserve memory for all of them at the start. */
export const upTo = (entries: number): Limit => ({ maxSize: entries, sizeCalculation: () => 1 })
