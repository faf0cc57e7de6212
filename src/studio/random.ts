/** Yields numbers in [0, 1), deterministic for a seed. */
export type Random = () => number

/** The mulberry32 generator: fast, and 32 bits of state are plenty for a picture. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Hashes a text to a 32-bit seed (FNV-1a over its UTF-16 code units). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return scramble(hash)
}

export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low)
}

export function pick<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0]
}

/** Smooth noise along a line, in [0, 1], with one feature per unit of `x`. */
export function noise1(x: number, seed: number): number {
  const cell = Math.floor(x)
  return mix(lattice(cell, 0, seed), lattice(cell + 1, 0, seed), ease(x - cell))
}

/** Smooth noise over a plane, in [0, 1], with one feature per unit square. */
function noise2(x: number, y: number, seed: number): number {
  const column = Math.floor(x)
  const row = Math.floor(y)
  const across = ease(x - column)
  const top = mix(lattice(column, row, seed), lattice(column + 1, row, seed), across)
  const bottom = mix(lattice(column, row + 1, seed), lattice(column + 1, row + 1, seed), across)
  return mix(top, bottom, ease(y - row))
}

/** Several octaves of plane noise, for clouds. */
export function fractal2(x: number, y: number, seed: number, octaves: number): number {
  let sum = 0
  let weight = 0.5
  let scale = 1
  for (let octave = 0; octave < octaves; octave++) {
    sum += weight * noise2(x * scale, y * scale, seed + octave)
    weight /= 2
    // Not exactly 2, so that the octaves' lattices do not line up into a visible grid.
    scale *= 2.03
  }
  return sum / (1 - 2 * weight)
}

export function mix(from: number, to: number, share: number): number {
  return from + (to - from) * share
}

/** 0 below `low`, 1 above `high`, and a soft step between them. */
export function smoothstep(low: number, high: number, value: number): number {
  return ease(Math.min(1, Math.max(0, (value - low) / (high - low))))
}

function ease(share: number): number {
  return share * share * (3 - 2 * share)
}

function lattice(column: number, row: number, seed: number): number {
  return scramble(Math.imul(column, 0x27d4eb2d) ^ Math.imul(row, 0x165667b1) ^ Math.imul(seed, 0x9e3779b1)) / 2 ** 32
}

function scramble(value: number): number {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}
