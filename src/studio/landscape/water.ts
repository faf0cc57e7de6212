import { createCanvas } from '@napi-rs/canvas'
import { between } from '../random.ts'
import { translucent } from './colour.ts'
import type { Stage } from './stage.ts'

/** Covers everything below `level` with water that reflects the scene above. */
export function drawWater(stage: Stage, level: number, roughness: number): void {
  const { context, palette, width, height } = stage
  const depth = height - level
  drawMirror(stage, level, roughness)
  const tint = context.createLinearGradient(0, level, 0, height)
  tint.addColorStop(0, translucent(palette.water, 0.12 + 0.1 * roughness))
  tint.addColorStop(0.35, translucent(palette.water, 0.38 + 0.15 * roughness))
  tint.addColorStop(1, translucent(palette.water, 0.82))
  context.fillStyle = tint
  context.fillRect(0, level, width, depth)
  drawRipples(stage, level, roughness)
  drawGlitter(stage, level)
  // A bright line of haze separates the far shore from its reflection.
  const shoreline = context.createLinearGradient(0, level - 3, 0, level + 9)
  shoreline.addColorStop(0, translucent(palette.mist, 0))
  shoreline.addColorStop(0.3, translucent(palette.mist, 0.5))
  shoreline.addColorStop(1, translucent(palette.mist, 0))
  context.fillStyle = shoreline
  context.fillRect(0, level - 3, width, 12)
}

function drawMirror(stage: Stage, level: number, roughness: number): void {
  const { canvas, context, random, width, height, unit } = stage
  const depth = Math.min(height - level, level)
  // Water blurs reflections, so half the resolution is enough, and never more than a megapixel.
  const scale = Math.min(0.5, 1 / stage.pixelsPerUnit) * stage.pixelsPerUnit
  const mirror = createCanvas(Math.ceil(width * scale), Math.ceil(depth * scale))
  mirror
    .getContext('2d')
    .drawImage(
      canvas,
      0,
      (level - depth) * stage.pixelsPerUnit,
      canvas.width,
      depth * stage.pixelsPerUnit,
      0,
      0,
      mirror.width,
      mirror.height,
    )
  // The strips are too thin for a better filter to make a difference.
  context.imageSmoothingQuality = 'low'
  const phase = random() * Math.PI * 2
  context.save()
  context.beginPath()
  context.rect(0, level, width, height - level)
  context.clip()
  for (let down = 0; down < height - level; ) {
    const share = down / (height - level)
    const strip = 1.5 + 2.5 * share
    const swell = Math.sin(phase + 90 * share ** 0.6) + 0.6 * Math.sin(phase * 3 + 231 * share ** 0.6)
    const shift = swell * (0.4 + share * 7) * (0.4 + roughness) * (unit / 800)
    const source = Math.min(down, 2 * depth - down - strip)
    const row = Math.max(0, mirror.height - (source + strip) * scale)
    const margin = 14
    context.save()
    context.translate(0, level + down + strip)
    context.scale(1, -1)
    context.drawImage(mirror, 0, row, mirror.width, strip * scale, shift - margin, 0, width + 2 * margin, strip + 0.6)
    context.restore()
    down += strip
  }
  context.restore()
}

function drawRipples(stage: Stage, level: number, roughness: number): void {
  const { context, palette, random, width, height } = stage
  const depth = height - level
  const count = Math.round((width * depth) / 1400) * (0.4 + roughness)
  for (let index = 0; index < count; index++) {
    const share = random() ** 1.3
    const y = level + 3 + share * (depth - 3)
    const length = between(random, 14, 60) * (0.3 + share * 1.6)
    const bright = random() < 0.55
    context.fillStyle = translucent(bright ? palette.sky[3] : palette.water, between(random, 0.03, 0.13))
    context.beginPath()
    context.ellipse(random() * width, y, length, 0.5 + share * 1.3, 0, 0, Math.PI * 2)
    context.fill()
  }
}

/** The glittering path of light below the sun or moon. */
function drawGlitter(stage: Stage, level: number): void {
  const { context, palette, random, light, height, unit } = stage
  const depth = height - level
  context.globalCompositeOperation = 'screen'
  const count = Math.round(depth * 1.1)
  for (let index = 0; index < count; index++) {
    const share = random() ** 1.5
    const y = level + 1 + share * depth
    const spread = unit * (0.018 + 0.09 * share)
    // The sum of three random numbers concentrates the sparks in the middle of the path.
    const offset = (random() + random() + random() - 1.5) * spread * 1.4
    const alpha = between(random, 0.1, 0.6) * (1 - share * 0.75)
    context.fillStyle = translucent(random() < 0.5 ? palette.light : palette.glow, alpha)
    context.beginPath()
    context.ellipse(light.x + offset, y, between(random, 2, 13) * (0.4 + share * 1.8), 0.5 + share * 1.1, 0, 0, 7)
    context.fill()
  }
  context.globalCompositeOperation = 'source-over'
}
