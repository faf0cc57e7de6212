import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas'
import type { Surface } from './finish.ts'
import { drawable, fit, font, wrap } from './text.ts'

/** A surface whose pixels can be read back, as the frosted glass needs. */
export interface Sheet extends Surface {
  canvas: Canvas
  pixelsPerUnit: number
}

/** Labels the picture on a pane of frosted glass, so that it cannot be mistaken for a real model's output. */
export function drawCaption(sheet: Sheet, caption: { prompt: string; seed: number }): void {
  const { context, width, height } = sheet
  const size = Math.min(20, Math.max(14, Math.min(width, height) * 0.022))
  const margin = size * 1.3
  const padding = size
  const room = Math.min(size * MAX_LINE_LENGTH, width - 2 * margin - 2 * padding)
  context.save()
  // Otherwise the host's language may select other glyphs.
  context.lang = 'en'
  const badge = measureBadge(context, size)
  context.font = font(400, size * SMALL)
  const source = fit(context, `seed ${caption.seed}`, room)
  const sourceWidth = context.measureText(source).width
  const stacked = badge.width + size * 0.8 + sourceWidth > room
  context.font = font(400, size)
  const lines = wrap(context, drawable(caption.prompt), room, MAX_LINES)

  const header = badge.height + (stacked ? size * 1.45 : 0)
  const body = lines.length === 0 ? 0 : lines.length * size * LINE_HEIGHT + size * 0.3
  const widths = lines.map(line => context.measureText(line).width)
  const inner = Math.max(stacked ? sourceWidth : badge.width + size * 0.8 + sourceWidth, badge.width, ...widths)
  const pane = { width: inner + 2 * padding, height: header + body + 2 * padding }
  const top = height - margin - pane.height
  drawGlass(sheet, { ...pane, x: margin, y: top, radius: size * 0.9 })

  const left = margin + padding
  const first = top + padding
  drawBadge(context, badge, { x: left, y: first }, size)
  context.fillStyle = 'rgba(255,255,255,0.82)'
  context.font = font(400, size * SMALL)
  if (stacked) context.fillText(source, left, first + badge.height + size * 1.1)
  else context.fillText(source, left + badge.width + size * 0.8, first + badge.height / 2 + size * 0.29)
  context.fillStyle = '#ffffff'
  context.font = font(400, size)
  lines.forEach((line, index) => {
    context.fillText(line, left, first + header + size * (0.3 + LINE_HEIGHT * index + 1.02))
  })
  context.restore()
}

interface Badge {
  width: number
  height: number
  spacing: number
}

function measureBadge(context: SKRSContext2D, size: number): Badge {
  const spacing = size * 0.09
  context.font = font(600, size * SMALL)
  const width = context.measureText(MARK).width + spacing * MARK.length + size * 1.1
  return { width, height: size * 1.5, spacing }
}

function drawBadge(context: SKRSContext2D, badge: Badge, at: { x: number; y: number }, size: number): void {
  context.fillStyle = 'rgba(255,255,255,0.94)'
  context.beginPath()
  context.roundRect(at.x, at.y, badge.width, badge.height, badge.height / 2)
  context.fill()
  context.fillStyle = '#141a2e'
  context.font = font(600, size * SMALL)
  context.letterSpacing = `${badge.spacing}px`
  context.fillText(MARK, at.x + size * 0.55 + badge.spacing / 2, at.y + badge.height / 2 + size * 0.29)
  context.letterSpacing = '0px'
}

function drawGlass(sheet: Sheet, pane: { x: number; y: number; width: number; height: number; radius: number }): void {
  const { canvas, context, pixelsPerUnit } = sheet
  const blurred = createCanvas(Math.ceil(pane.width / FROSTING), Math.ceil(pane.height / FROSTING))
  const brush = blurred.getContext('2d')
  brush.imageSmoothingQuality = 'high'
  brush.drawImage(
    canvas,
    pane.x * pixelsPerUnit,
    pane.y * pixelsPerUnit,
    pane.width * pixelsPerUnit,
    pane.height * pixelsPerUnit,
    0,
    0,
    blurred.width,
    blurred.height,
  )
  context.save()
  context.beginPath()
  context.roundRect(pane.x, pane.y, pane.width, pane.height, pane.radius)
  context.clip()
  context.imageSmoothingQuality = 'high'
  context.drawImage(blurred, pane.x, pane.y, pane.width, pane.height)
  // Dark enough for white text on the brightest snow.
  context.fillStyle = 'rgba(12,16,32,0.56)'
  context.fillRect(pane.x, pane.y, pane.width, pane.height)
  context.restore()
  context.strokeStyle = 'rgba(255,255,255,0.22)'
  context.lineWidth = 1
  context.beginPath()
  context.roundRect(pane.x + 0.5, pane.y + 0.5, pane.width - 1, pane.height - 1, pane.radius - 0.5)
  context.stroke()
}

const MARK = 'SANDBOX'

/** The size of secondary text, relative to the prompt. */
const SMALL = 0.8

const LINE_HEIGHT = 1.4

// Two lines are enough to tell pictures apart without covering the view.
const MAX_LINES = 2

/** In multiples of the font size: about 65 characters, beyond which a line is hard to read. */
const MAX_LINE_LENGTH = 32

/** The blur of the glass, in world units. */
const FROSTING = 14
