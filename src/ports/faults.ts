/** A store takes no work for now; the caller may come again. Nothing was written, where the port does not say otherwise. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** The log does not answer, so it is not known whether events were written. The same request may be made again. */
export class InDoubt extends Unavailable {}

/** What a store holds cannot be what was written there. The message says what to do. */
export class Damaged extends Error {
  override name = 'Damaged'
}
