/** The items in batches of a size, in their order. The last may be smaller. */
export function* batchesOf<Each>(all: readonly Each[], size: number): Generator<Each[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size)
}
