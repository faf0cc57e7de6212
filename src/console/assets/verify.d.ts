// The types of `docs/verify/verify.mjs`, which is served as `verify.js`.

export type Keys = ReadonlyMap<string, string>

/** A proof does not prove what it claims. */
export class Wrong extends Error {}

export function parseKeys(text: string): Keys
export function check(text: string, keys: Keys, kept?: string): string[]

/** Checks the events of an account that no seal covers yet, event by event. */
export class ChainCheck {
  /** When the account was opened. */
  readonly at: string
  /** The revision of the last event. */
  readonly last: number
  readonly events: { readonly revision: number; readonly prices: number }
  constructor(text: string)
  take(text: string): { revision: number; change: number; after: number } | undefined
  /** Returns the balance in microcredits. */
  end(): number
}

/** Checks a statement event by event. */
export class StatementCheck {
  readonly seal: { number: number; name: string; at: string }
  /** The revision of the last event. */
  readonly last: number
  readonly events: { readonly revision: number; readonly prices: number }
  constructor(text: string, keys: Keys)
  take(text: string): { revision: number; change: number; after: number } | undefined
  /** Returns the balance in microcredits. */
  end(): number
}
