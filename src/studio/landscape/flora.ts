import { Path2D } from '@napi-rs/canvas'
import { between, noise1, type Random } from '../random.ts'
import type { Colour } from './colour.ts'
import { heightAt, type RidgeLine } from './land.ts'
import type { Stage } from './stage.ts'

/** Plants conifers along a ridge, in groves rather than in a row. */
export function drawConifers(stage: Stage, line: RidgeLine, colour: Colour, tallest: number): void {
  const { context, random, width } = stage
  const seed = Math.floor(random() * 2 ** 31)
  const forest = new Path2D()
  for (let x = -tallest; x < width + tallest; x += tallest * between(random, 0.05, 0.2)) {
    const grove = noise1(x / (tallest * 4), seed)
    if (grove < 0.3) continue
    const height = tallest * (0.3 + 0.7 * grove) * between(random, 0.45, 1)
    addConifer(forest, random, x, heightAt(line, x) + height * 0.08, height)
  }
  context.fillStyle = colour
  context.fill(forest)
}

/** A palm that leans over the water from `x`. */
export function drawPalm(stage: Stage, foot: { x: number; y: number }, height: number, lean: number): void {
  const { context, palette, random } = stage
  const crown = { x: foot.x + lean * height, y: foot.y - height }
  const bend = { x: foot.x + lean * height * 0.15, y: foot.y - height * 0.6 }
  const thickness = height * 0.016
  context.fillStyle = palette.near
  context.beginPath()
  context.moveTo(foot.x - thickness * 1.6, foot.y)
  context.quadraticCurveTo(bend.x - thickness, bend.y, crown.x - thickness * 0.6, crown.y)
  context.lineTo(crown.x + thickness * 0.6, crown.y)
  context.quadraticCurveTo(bend.x + thickness, bend.y, foot.x + thickness * 1.6, foot.y)
  context.fill()
  const fronds = 8
  for (let frond = 0; frond < fronds; frond++) {
    const angle = -Math.PI * (1.22 - (1.44 * frond) / (fronds - 1)) + between(random, -0.1, 0.1)
    drawFrond(stage, crown, angle, height * between(random, 0.4, 0.54))
  }
}

function drawFrond(stage: Stage, from: { x: number; y: number }, angle: number, length: number): void {
  const { context, palette, random } = stage
  const leaves = 44
  const width = (length / leaves) * 1.1
  context.fillStyle = palette.near
  context.beginPath()
  for (let leaf = 0; leaf <= leaves; leaf++) {
    const along = leaf / leaves
    const x = from.x + Math.cos(angle) * length * along
    // Its own weight pulls the tip of a frond down, and every leaf on it as well.
    const y = from.y + Math.sin(angle) * length * along + length * 0.72 * along * along
    const tilt = Math.atan2(Math.sin(angle) + 1.44 * along, Math.cos(angle))
    const blade = length * 0.27 * Math.sin(Math.PI * (0.1 + 0.85 * along)) * between(random, 0.8, 1.1)
    const across = { x: Math.cos(tilt) * width, y: Math.sin(tilt) * width }
    for (const side of [-1, 1]) {
      context.moveTo(x - across.x, y - across.y)
      context.lineTo(x + across.x, y + across.y)
      context.lineTo(
        x + Math.cos(tilt + side * 0.55) * blade,
        y + Math.sin(tilt + side * 0.55) * blade * 0.6 + blade * 0.5,
      )
      context.closePath()
    }
  }
  context.fill()
}

function addConifer(path: Path2D, random: Random, x: number, y: number, height: number): void {
  const tiers = 6
  const reach = height * between(random, 0.15, 0.21)
  const right: [number, number][] = []
  path.moveTo(x, y - height)
  for (let tier = 1; tier <= tiers; tier++) {
    const down = tier / tiers
    const width = reach * down ** 0.8
    const at = y - height + height * 0.94 * down
    path.lineTo(x - width * between(random, 0.8, 1.1), at)
    path.lineTo(x - width * 0.42, at - height * 0.035)
    right.push([x + width * 0.42, at - height * 0.035], [x + width * between(random, 0.8, 1.1), at])
  }
  path.lineTo(x - height * 0.02, y - height * 0.05)
  path.lineTo(x - height * 0.02, y)
  path.lineTo(x + height * 0.02, y)
  path.lineTo(x + height * 0.02, y - height * 0.05)
  for (const [rightX, rightY] of right.reverse()) path.lineTo(rightX, rightY)
  path.closePath()
}
