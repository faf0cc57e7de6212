import { between, mix, noise1, smoothstep } from '../random.ts'
import { blend, type Colour, translucent } from './colour.ts'
import type { Stage } from './stage.ts'

/** The heights of a ridge, one every `RIDGE_STEP` world units from left to right. */
export type RidgeLine = readonly number[]

type RidgeShape = keyof typeof shapes

interface Ridge {
  shape: RidgeShape
  /** The height of the ridge's base, and its maximum rise above it. */
  base: number
  rise: number
  /** The width of one mountain or hill. */
  wavelength: number
  /** Raises and lowers parts of the ridge, from 0 to 1 along the picture. */
  envelope?: (share: number) => number
}

export function ridgeLine(stage: Stage, ridge: Ridge): RidgeLine {
  const seed = Math.floor(stage.random() * 2 ** 31)
  const shape = shapes[ridge.shape]
  return Array.from({ length: Math.ceil(stage.width / RIDGE_STEP) + 2 }, (_, index) => {
    const x = index * RIDGE_STEP
    return ridge.base - ridge.rise * shape(x / ridge.wavelength, seed) * (ridge.envelope?.(x / stage.width) ?? 1)
  })
}

/** Fills everything below a ridge, fading into the mist in the valley in front of it. */
export function fillRidge(stage: Stage, line: RidgeLine, colour: Colour, mist: { share: number; depth: number }): void {
  const { context, palette, width, height } = stage
  const top = Math.min(...line)
  const gradient = context.createLinearGradient(0, top, 0, top + mist.depth)
  gradient.addColorStop(0, colour)
  gradient.addColorStop(1, blend(colour, palette.mist, mist.share))
  context.fillStyle = gradient
  context.beginPath()
  context.moveTo(0, height)
  line.forEach((y, index) => {
    context.lineTo(index * RIDGE_STEP, y)
  })
  context.lineTo(width + RIDGE_STEP, height)
  context.fill()
}

/** Darkens the side of each summit that faces away from the light, which gives a silhouette its volume. */
export function shadeSlopes(stage: Stage, line: RidgeLine, colour: Colour, style: SlopeStyle): void {
  const { context, random, light } = stage
  for (const summit of summits(line, Math.round(style.reach / RIDGE_STEP))) {
    const x = summit * RIDGE_STEP
    const y = line[summit] ?? 0
    const away = light.x < x ? 1 : -1
    const foot = footOf(line, summit, away, Math.round(style.reach / RIDGE_STEP))
    const drop = Math.max((line[foot] ?? y) - y, style.reach * 0.5) * style.length
    const gradient = context.createLinearGradient(0, y, 0, y + drop)
    gradient.addColorStop(0, translucent(colour, style.strength))
    gradient.addColorStop(0.5, translucent(colour, style.strength * 0.55))
    gradient.addColorStop(1, translucent(colour, 0))
    context.fillStyle = gradient
    context.beginPath()
    context.moveTo(x, y)
    let spur = x
    const steps = style.jagged ? 9 : 24
    for (let step = 1; step <= steps; step++) {
      const down = step / steps
      const wander = style.jagged ? between(random, -0.09, 0.1) : 0.05 * Math.sin(down * Math.PI)
      spur += (away * 0.012 + wander * (step % 2 === 0 ? -1 : 1)) * drop
      if (!style.jagged) spur = x - away * drop * 0.5 * Math.sin(down * Math.PI * 0.75)
      context.lineTo(spur, y + drop * down)
    }
    for (let index = foot; index !== summit; index -= away) context.lineTo(index * RIDGE_STEP, line[index] ?? y)
    context.fill()
  }
}

interface SlopeStyle {
  /** The radius within which a summit is the highest point. Sets how fine the relief is. */
  reach: number
  length: number
  strength: number
  jagged: boolean
}

/** The height of a ridge at any place along it. */
export function heightAt(line: RidgeLine, x: number): number {
  const index = Math.max(0, Math.min(line.length - 2, Math.floor(x / RIDGE_STEP)))
  return mix(line[index] ?? 0, line[index + 1] ?? 0, x / RIDGE_STEP - index)
}

function summits(line: RidgeLine, reach: number): number[] {
  const found: number[] = []
  for (let index = 1; index < line.length - 1; index++) {
    const y = line[index] ?? 0
    let highest = true
    for (let near = Math.max(0, index - reach); near <= Math.min(line.length - 1, index + reach); near++) {
      const other = line[near] ?? 0
      // Of equally high points, only the first counts.
      if (other < y || (other === y && near < index)) highest = false
    }
    if (highest) found.push(index)
  }
  return found
}

function footOf(line: RidgeLine, summit: number, direction: 1 | -1, reach: number): number {
  let lowest = summit
  for (let index = summit; index >= 0 && index < line.length; index += direction) {
    if ((line[index] ?? 0) > (line[lowest] ?? 0)) lowest = index
    if (Math.abs(index - lowest) > reach) break
  }
  return lowest
}

const shapes = {
  /** Sharp crests and round valleys: noise folded over at its middle, octave upon octave. */
  jagged: (x: number, seed: number) => {
    let sum = 0
    let weight = 0.5
    let scale = 1
    let previous = 1
    for (let octave = 0; octave < 7; octave++) {
      const crest = 1 - Math.abs(2 * noise1(x * scale, seed + octave) - 1)
      sum += weight * crest * mix(1, previous, 0.6)
      previous = crest
      weight *= octave < 2 ? 0.5 : 0.46
      scale *= 2.07
    }
    return sum
  },
  rolling: (x: number, seed: number) =>
    0.68 * noise1(x, seed) + 0.24 * noise1(x * 2.3, seed + 1) + 0.08 * noise1(x * 5.1, seed + 2),
  dune: (x: number, seed: number) => 0.85 * (1 - Math.abs(2 * noise1(x, seed) - 1)) + 0.15 * noise1(x * 2.1, seed + 1),
  mesa: (x: number, seed: number) => {
    const height = 0.8 * noise1(x, seed) + 0.2 * noise1(x * 3.1, seed + 1)
    const rubble = 0.03 * noise1(x * 40, seed + 2)
    return 0.1 + 0.5 * smoothstep(0.5, 0.54, height) + 0.4 * smoothstep(0.64, 0.67, height) + rubble
  },
} satisfies Record<string, (x: number, seed: number) => number>

// Fine enough that no ridge shows straight segments, coarse enough that a hundred thousand points suffice at any size.
const RIDGE_STEP = 1.5
