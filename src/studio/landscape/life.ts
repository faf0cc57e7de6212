import { between } from '../random.ts'
import { blend } from './colour.ts'
import type { Stage } from './stage.ts'

/** A small flock near the light, unless it is too dark to see. */
export function drawBirds(stage: Stage): void {
  const { context, palette, random, light, unit, width, horizon } = stage
  if (palette.stars > DARKEST_SKY_WITH_BIRDS) return
  const centre = {
    x: light.x + unit * between(random, 0.1, 0.28) * (light.x < width / 2 ? 1 : -1),
    y: Math.max(unit * 0.1, Math.min(light.y, horizon - unit * 0.3) + unit * between(random, -0.08, 0.04)),
  }
  context.strokeStyle = blend(palette.near, palette.sky[2], 0.25)
  context.lineCap = 'round'
  const count = 5 + Math.floor(random() * 5)
  for (let bird = 0; bird < count; bird++) {
    const x = centre.x + unit * between(random, -0.1, 0.1)
    const y = centre.y + unit * between(random, -0.04, 0.04)
    const wing = unit * between(random, 0.007, 0.014)
    const lift = wing * between(random, 0.25, 0.7)
    context.lineWidth = wing * 0.16
    context.beginPath()
    context.moveTo(x - wing, y - lift * 0.6)
    context.quadraticCurveTo(x - wing * 0.45, y - lift, x, y)
    context.quadraticCurveTo(x + wing * 0.45, y - lift, x + wing, y - lift * 0.5)
    context.stroke()
  }
}

/** A lone sailing boat, which shows the scale of the water. */
export function drawBoat(stage: Stage, at: { x: number; y: number }): void {
  const { context, palette, unit } = stage
  const size = unit * 0.05
  context.save()
  context.translate(at.x, at.y)
  context.fillStyle = palette.near
  context.beginPath()
  context.moveTo(-size * 0.42, 0)
  context.quadraticCurveTo(-size * 0.3, size * 0.14, 0, size * 0.14)
  context.quadraticCurveTo(size * 0.34, size * 0.14, size * 0.48, -size * 0.03)
  context.closePath()
  context.fill()
  context.fillStyle = blend(palette.near, palette.light, 0.72)
  context.beginPath()
  context.moveTo(0, -size * 1.1)
  context.quadraticCurveTo(-size * 0.12, -size * 0.5, -size * 0.36, -size * 0.08)
  context.lineTo(0, -size * 0.06)
  context.fill()
  context.fillStyle = blend(palette.near, palette.light, 0.5)
  context.beginPath()
  context.moveTo(size * 0.04, -size)
  context.quadraticCurveTo(size * 0.3, -size * 0.5, size * 0.4, -size * 0.1)
  context.lineTo(size * 0.04, -size * 0.06)
  context.fill()
  context.restore()
}

const DARKEST_SKY_WITH_BIRDS = 0.3
