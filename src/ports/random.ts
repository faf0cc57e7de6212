/** Randomness and unique ids. Simulations derive them from a seed. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  fraction(): number
  /** Random bytes in lowercase hex, fit for secrets. */
  hex(bytes: number): string
  /** A random UUID (version 4). */
  uuid(): string
  /** A UUID that is greater than those before it (version 7). */
  risingUuid(): string
}
