/** Splits a list into batches. The last batch may be smaller. */
export function* batchesOf<Each>(all: readonly Each[], size: number): Generator<Each[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size)
}
