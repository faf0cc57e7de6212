import { between, fractal2, mix, noise1, smoothstep } from '../random.ts'
import { blend, channels, translucent } from './colour.ts'
import { drawSoftly, type Stage } from './stage.ts'

export function drawSky(stage: Stage): void {
  const { context, palette, width, horizon } = stage
  const gradient = context.createLinearGradient(0, 0, 0, horizon)
  palette.sky.forEach((colour, index) => {
    // The exponent gives the rich colours of the zenith more room than the light colours near the horizon.
    gradient.addColorStop((index / (palette.sky.length - 1)) ** 0.85, colour)
  })
  context.fillStyle = gradient
  context.fillRect(0, 0, width, stage.height)
  drawStars(stage)
  drawAurora(stage)
  drawGlow(stage)
  drawDisc(stage)
  drawClouds(stage)
}

function drawStars(stage: Stage): void {
  const { context, palette, random, width, horizon } = stage
  const count = Math.round(width * horizon * STARS_PER_AREA * palette.stars)
  for (let index = 0; index < count; index++) {
    const x = random() * width
    // Haze hides the stars near the horizon.
    const y = random() ** 1.4 * horizon * 0.95
    const size = random() ** 6
    context.fillStyle = translucent(random() < 0.2 ? '#ffe9cf' : '#eaf2ff', between(random, 0.25, 0.7) + size * 0.3)
    context.beginPath()
    context.arc(x, y, 0.45 + size * 1.5, 0, Math.PI * 2)
    context.fill()
  }
}

function drawAurora(stage: Stage): void {
  const { palette, random, width, horizon, unit } = stage
  if (palette.aurora === undefined) return
  const low = channels(palette.aurora[0])
  const high = channels(palette.aurora[1])
  const seed = Math.floor(random() * 2 ** 31)
  const curtains = [0.2, 0.34, 0.5].map((depth, index) => ({
    foot: (x: number) =>
      horizon -
      unit *
        (depth +
          0.3 * (noise1((x / unit) * 1.7, seed + index) - 0.4) +
          0.07 * noise1((x / unit) * 6, seed + 5 + index)),
    brightness: (x: number) =>
      smoothstep(0.25, 0.8, noise1((x / unit) * 2.3, seed + 10 + index)) *
      (0.45 + 0.55 * noise1((x / unit) * 38, seed + 20 + index)),
    reach: unit * (0.16 + 0.06 * index),
  }))
  // Per-column values are the same for every row, so they are computed once.
  const known = new Map<number, { foot: number; brightness: number; reach: number }[]>()
  stage.context.globalCompositeOperation = 'screen'
  drawSoftly(stage, { x: 0, y: 0, width, height: horizon, cell: 4 }, (x, y, pixel) => {
    let column = known.get(x)
    if (column === undefined) {
      column = curtains.map(it => ({ foot: it.foot(x), brightness: it.brightness(x), reach: it.reach }))
      known.set(x, column)
    }
    let glow = 0
    let rise = 0
    for (const { foot, brightness, reach } of column) {
      const above = (foot - y) / reach
      const strength = brightness * (above > 0 ? Math.exp(-above * 1.5) : Math.exp(above * 14))
      glow += strength
      rise += strength * Math.min(1, Math.max(0, above * 0.7))
    }
    const share = glow > 0 ? rise / glow : 0
    for (let channel = 0; channel < 3; channel++) pixel[channel] = mix(low[channel] ?? 0, high[channel] ?? 0, share)
    pixel[3] = 225 * (1 - Math.exp(-glow * 1.15))
  })
  stage.context.globalCompositeOperation = 'source-over'
}

function drawGlow(stage: Stage): void {
  const { context, palette, unit, light, width, height, horizon } = stage
  context.globalCompositeOperation = 'screen'
  const strength = palette.disc === 'sun' ? 1 : 0.55
  const halo = context.createRadialGradient(light.x, light.y, 0, light.x, light.y, unit * 0.75)
  halo.addColorStop(0, translucent(palette.light, 0.85 * strength))
  halo.addColorStop(0.07, translucent(palette.glow, 0.6 * strength))
  halo.addColorStop(0.3, translucent(palette.glow, 0.22 * strength))
  halo.addColorStop(1, translucent(palette.glow, 0))
  context.fillStyle = halo
  context.fillRect(0, 0, width, height)
  // A flattened halo lights up the haze along the horizon below the sun or the moon.
  context.save()
  context.translate(light.x, horizon)
  context.scale(2.6, 0.5)
  const haze = context.createRadialGradient(0, 0, 0, 0, 0, unit * 0.5)
  haze.addColorStop(0, translucent(palette.glow, 0.5 * strength))
  haze.addColorStop(1, translucent(palette.glow, 0))
  context.fillStyle = haze
  context.fillRect(-unit, -unit, unit * 2, unit * 2)
  context.restore()
  context.globalCompositeOperation = 'source-over'
}

function drawDisc(stage: Stage): void {
  const { context, palette, random, unit, light } = stage
  const radius = unit * (palette.disc === 'sun' ? 0.042 : 0.05)
  context.save()
  context.beginPath()
  context.arc(light.x, light.y, radius, 0, Math.PI * 2)
  context.fillStyle = palette.light
  context.fill()
  if (palette.disc === 'moon') {
    context.clip()
    const dark = blend(palette.light, palette.glow, 0.9)
    for (let sea = 0; sea < 8; sea++) {
      const x = light.x + between(random, -0.6, 0.6) * radius
      const y = light.y + between(random, -0.6, 0.6) * radius
      const size = radius * between(random, 0.25, 0.6)
      const stain = context.createRadialGradient(x, y, 0, x, y, size)
      stain.addColorStop(0, translucent(dark, 0.5))
      stain.addColorStop(0.5, translucent(dark, 0.3))
      stain.addColorStop(1, translucent(dark, 0))
      context.fillStyle = stain
      context.fillRect(x - size, y - size, size * 2, size * 2)
    }
  }
  context.restore()
}

function drawClouds(stage: Stage): void {
  const { palette, random, width, horizon, unit, light } = stage
  const seed = Math.floor(random() * 2 ** 31)
  const lit = channels(palette.cloud.lit)
  const shade = channels(palette.cloud.shade)
  const cover = palette.cloud.cover + between(random, -0.05, 0.05)
  drawSoftly(stage, { x: 0, y: 0, width, height: horizon, cell: 4 }, (x, y, pixel) => {
    const height = (horizon - y) / unit
    // Perspective compresses a flat layer of clouds towards the horizon.
    const v = 2.4 / (height + 0.18)
    const u = ((x - width / 2) / unit) * (1.1 + 0.35 * v)
    const density = fractal2(u, v * 1.9, seed, 5)
    // Thin parts facing the light are bright, thick parts facing away are dark.
    const towards = fractal2(u + Math.tanh((3 * (light.x - x)) / unit) * 0.12, v * 1.9 + 0.12, seed, 3)
    const brightness = smoothstep(-0.16, 0.2, density - towards + 0.06 - (density - cover) * 0.35)
    for (let channel = 0; channel < 3; channel++) {
      pixel[channel] = mix(shade[channel] ?? 0, lit[channel] ?? 0, brightness)
    }
    const opacity = smoothstep(cover, cover + 0.22, density)
    pixel[3] = 255 * 0.82 * opacity * smoothstep(0, 0.12, height) * smoothstep(1.6, 0.6, height)
  })
}

// About 500 stars over a square picture: fewer look poor, and more look like noise.
const STARS_PER_AREA = 0.0009
