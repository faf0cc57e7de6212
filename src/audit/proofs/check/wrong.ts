/** A proof does not prove what it claims. The message says why, as a clause without a full stop. */
export class Wrong extends Error {
  override name = 'Wrong'
}

/** Throws Wrong unless something holds. */
export function hold(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Wrong(what)
}
