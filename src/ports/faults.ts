/** A store takes no work for now; the caller may come again. Nothing was written, where the port does not say otherwise. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** What a store holds cannot be what was written there. The message says what to do. */
export class Damaged extends Error {
  override name = 'Damaged'
}
