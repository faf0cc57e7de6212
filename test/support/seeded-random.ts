/** A seed for a random test: that of `TEST_SEED`, which repeats a run, or a new one. */
export const testSeed = (): number => Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000)

/** Numbers from 0 to 1, which depend on the seed (mulberry32). Math.random takes no seed. */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
