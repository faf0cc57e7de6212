import { between, fractal2, mix, smoothstep } from '../random.ts'
import { blend, type Colour, channels } from './colour.ts'
import { drawConifers, drawPalm } from './flora.ts'
import { fillRidge, heightAt, type RidgeLine, ridgeLine, shadeSlopes } from './land.ts'
import { drawBirds, drawBoat } from './life.ts'
import type { SceneName } from './palettes.ts'
import { drawSoftly, inFront, type Stage } from './stage.ts'
import { drawWater } from './water.ts'

/** Draws the land, from the most distant range to the foreground. */
export function drawScene(stage: Stage, scene: SceneName): void {
  scenes[scene](stage)
}

const scenes: Record<SceneName, (stage: Stage) => void> = {
  peaks(stage) {
    const { palette, unit, shore } = stage
    drawRanges(stage, { count: 3, from: stage.horizon, to: shore, tallest: 0.44, lowest: 0.12 })
    drawMist(stage, shore - unit * 0.07, unit * 0.1, 0.55)
    drawWater(stage, shore, 0.15)
    drawBirds(stage)
    drawBank(inFront(stage), palette.near)
  },

  hills(stage) {
    const { palette, height, unit, horizon } = stage
    drawRanges(stage, { count: 1, from: horizon - unit * 0.05, to: horizon, tallest: 0.3, lowest: 0.3 })
    const from = horizon + unit * 0.02
    const to = height + unit * 0.02
    const count = layersBetween(stage, 5)
    for (let layer = 0; layer < count; layer++) {
      const nearness = layer / (count - 1)
      const base = mix(from, to, nearness ** 1.25)
      const line = ridgeLine(stage, {
        shape: 'rolling',
        base: base + unit * 0.1,
        rise: unit * mix(0.26, 0.34, nearness),
        wavelength: unit * mix(0.35, 0.75, nearness),
      })
      const colour = blend(palette.far, palette.near, 0.1 + 0.9 * nearness ** 0.9)
      const place = layer === count - 1 ? inFront(stage) : stage
      drawConifers(place, line, colour, unit * mix(0.018, 0.15, nearness ** 1.6))
      fillRidge(place, line, colour, { share: mix(0.75, 0.15, nearness), depth: unit * 0.36 })
      if (layer < count - 1) drawMist(stage, base - unit * 0.02, unit * 0.1, 0.5)
    }
    drawBirds(stage)
  },

  sea(stage) {
    const { palette, random, unit, shore } = stage
    const side = stage.light.x < stage.width / 2 ? 1 : 0
    for (const nearness of [0, 0.35, 0.7]) {
      const line = ridgeLine(stage, {
        shape: nearness < 0.5 ? 'jagged' : 'rolling',
        base: shore + unit * 0.01,
        rise: unit * mix(0.3, 0.16, nearness),
        wavelength: unit * 0.5,
        // The land opens up below the light and closes in on the other side.
        envelope: share => smoothstep(0.35 + nearness * 0.25, 1.05, side === 1 ? share : 1 - share) * 1.1,
      })
      const colour = blend(palette.far, palette.near, 0.08 + nearness * 0.5)
      fillRidge(stage, line, colour, { share: 0.5, depth: unit * 0.3 })
      shadeSlopes(stage, line, blend(colour, palette.near, 0.5), { ...relief, reach: unit * 0.02 })
    }
    drawMist(stage, shore - unit * 0.03, unit * 0.06, 0.4)
    drawWater(stage, shore, 0.9)
    drawBoat(stage, {
      x: stage.light.x + unit * between(random, 0.1, 0.25) * (side === 1 ? 1 : -1),
      y: shore + unit * 0.05,
    })
    drawBirds(stage)
    if (palette.palms === undefined) drawBank(inFront(stage), palette.near)
    else drawPalmBeach(inFront(stage))
  },

  dunes(stage) {
    const { palette, height, unit, horizon } = stage
    const mesas = ridgeLine(stage, { shape: 'mesa', base: horizon, rise: unit * 0.12, wavelength: unit * 0.3 })
    const distant = blend(blend(palette.far, palette.near, 0.2), palette.sky[3], 0.25)
    fillRidge(stage, mesas, distant, { share: 0.4, depth: unit * 0.2 })
    const count = layersBetween(stage, 5)
    for (let layer = 0; layer < count; layer++) {
      const nearness = layer / (count - 1)
      const line = ridgeLine(stage, {
        shape: 'dune',
        base: mix(horizon + unit * 0.05, height + unit * 0.12, nearness ** 1.2),
        rise: unit * mix(0.06, 0.3, nearness),
        wavelength: unit * mix(0.3, 1.1, nearness),
      })
      const sunlit = blend(blend(palette.far, palette.near, 0.75 * nearness), palette.light, 0.22 * (1 - nearness))
      const place = layer === count - 1 ? inFront(stage) : stage
      fillRidge(place, line, sunlit, { share: mix(0.55, 0.1, nearness), depth: unit * 0.3 })
      shadeSlopes(place, line, blend(sunlit, palette.near, 0.85), {
        reach: unit * mix(0.08, 0.25, nearness),
        length: 2.2,
        strength: 0.8,
        jagged: false,
      })
      if (nearness < 0.6) drawMist(stage, Math.max(...line), unit * 0.05, 0.3)
    }
    drawBirds(stage)
  },
}

const relief = { length: 1.5, strength: 0.5, jagged: true }

function drawRanges(
  stage: Stage,
  ranges: { count: number; from: number; to: number; tallest: number; lowest: number },
): void {
  const { palette, unit, random } = stage
  const count = layersBetween(stage, ranges.count)
  const summit = between(random, 0.3, 0.7)
  for (let layer = 0; layer < count; layer++) {
    const nearness = count === 1 ? 0 : layer / (count - 1)
    const rise = unit * mix(ranges.tallest, ranges.lowest, nearness)
    const base = mix(ranges.from, ranges.to, nearness)
    const line = ridgeLine(stage, {
      shape: 'jagged',
      base: base + unit * 0.015,
      rise,
      wavelength: rise * 1.5,
      envelope: share => 0.72 + 0.42 * Math.exp(-(((share - summit - 0.3 * nearness) / 0.22) ** 2)),
    })
    const rock = blend(palette.far, palette.near, 0.05 + 0.55 * nearness)
    const top = palette.snow === undefined ? rock : blend(rock, palette.snow, 0.75 - 0.5 * nearness)
    const shadow = blend(rock, palette.near, palette.snow === undefined ? 0.42 : 0.2)
    fillRidge(stage, line, top, { share: 0.6, depth: rise * 1.25 })
    shadeSlopes(stage, line, shadow, { ...relief, strength: 0.75, reach: rise * 0.16, length: 1.7 })
    shadeSlopes(stage, line, shadow, { ...relief, strength: 0.45, reach: rise * 0.045, length: 1.5 })
    if (nearness > 0.6) drawConifers(stage, line, blend(rock, palette.near, 0.4), unit * 0.022)
    if (layer < count - 1) drawMist(stage, base - rise * 0.1, rise * 0.3, 0.5)
  }
}

/** A wooded bank that frames one lower corner of the picture. */
function drawBank(stage: Stage, colour: Colour): void {
  const { height, unit, light, width } = stage
  const side = light.x < width / 2 ? 1 : 0
  const line = ridgeLine(stage, {
    shape: 'rolling',
    base: height + unit * 0.03,
    rise: unit * 0.22,
    wavelength: unit * 0.5,
    envelope: share => 0.32 + smoothstep(0.45, 1, side === 1 ? share : 1 - share),
  })
  const behind = line.map(y => y - unit * 0.012)
  const hazier = blend(colour, stage.palette.far, 0.16)
  drawConifers(stage, behind, hazier, unit * 0.13)
  fillRidge(stage, behind, hazier, { share: 0, depth: unit * 0.2 })
  drawConifers(stage, line, colour, unit * 0.17)
  fillRidge(stage, line, colour, { share: 0.04, depth: unit * 0.2 })
}

function drawPalmBeach(stage: Stage): void {
  const { palette, random, height, unit, width, light } = stage
  const side = light.x < width / 2 ? 1 : -1
  const line: RidgeLine = ridgeLine(stage, {
    shape: 'rolling',
    base: height + unit * 0.02,
    rise: unit * 0.16,
    wavelength: unit * 0.8,
    envelope: share => 0.45 + 1.2 * smoothstep(0.4, 1, side === 1 ? share : 1 - share),
  })
  for (const [inset, tall] of [
    [0.1, 0.62],
    [0.2, 0.46],
    [0.04, 0.36],
  ] as const) {
    const x = (side === 1 ? width : 0) - side * unit * inset
    drawPalm(stage, { x, y: heightAt(line, x) + unit * 0.01 }, unit * tall, -side * between(random, 0.15, 0.34))
  }
  fillRidge(stage, line, palette.near, { share: 0.04, depth: unit * 0.2 })
}

/** A bank of mist in a valley, thickest at `y`. */
function drawMist(stage: Stage, y: number, thickness: number, strength: number): void {
  const { palette, random, width, unit } = stage
  const seed = Math.floor(random() * 2 ** 31)
  const [red, green, blue] = channels(palette.mist)
  drawSoftly(stage, { x: 0, y: y - thickness * 1.5, width, height: thickness * 3, cell: 8 }, (x, at, pixel) => {
    const distance = (at - y) / thickness
    const wisps = smoothstep(0.25, 0.75, fractal2((x / unit) * 2.2, (at / unit) * 7, seed, 3))
    pixel[0] = red
    pixel[1] = green
    pixel[2] = blue
    pixel[3] = 255 * strength * wisps * smoothstep(1.5, 0, Math.abs(distance))
  })
}

function layersBetween(stage: Stage, count: number): number {
  return count + Math.round(stage.spread / (stage.unit * 0.22))
}
