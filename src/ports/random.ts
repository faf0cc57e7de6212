/** Randomness and unique IDs. Simulations derive them from a seed. */
export interface Random {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number
  /** Random bytes in lowercase hex, fit for secrets. */
  hex(bytes: number): string
  /** A random UUID (version 4). */
  uuid(): string
  /** A UUID (version 7) that is greater than all previous UUIDs. */
  risingUuid(): string
}
