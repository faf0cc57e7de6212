import { createCanvas } from '@napi-rs/canvas'
import { between, type Random } from '../random.ts'
import type { Sheet } from './caption.ts'

/** Repaints a sheet in its own colours: broad strokes first, then fine ones where there is detail. */
export function drawStrokes(sheet: Sheet, random: Random): void {
  const sketch = sketchOf(sheet)
  sheet.context.lineCap = 'round'
  for (const brush of brushes) {
    const step = brush.width * SPACING
    for (let y = 0; y < sheet.height; y += step) {
      for (let x = 0; x < sheet.width; x += step) {
        drawStroke(sheet, sketch, brush, { x: x + between(random, 0, step), y: y + between(random, 0, step) }, random)
      }
    }
  }
}

interface Brush {
  width: number
  /** Skips strokes where the picture changes less than this, from 0 to 255. */
  minDetail: number
}

function drawStroke({ context }: Sheet, sketch: Sketch, brush: Brush, at: { x: number; y: number }, random: Random) {
  const { red, green, blue, slopeX, slopeY } = sketch.lookAt(at.x, at.y)
  const detail = Math.hypot(slopeX, slopeY)
  if (detail < brush.minDetail) return
  // Along an edge rather than across it; without an edge, at the natural angle of a hand.
  const angle = detail > MIN_EDGE ? Math.atan2(slopeX, -slopeY) : between(random, 0.4, 0.9)
  const length = brush.width * between(random, 0.6, 1.8)
  const shade = between(random, -6, 6)
  context.strokeStyle = `rgba(${Math.round(red + shade)},${Math.round(green + shade)},${Math.round(blue + shade)},0.86)`
  context.lineWidth = brush.width * between(random, 0.7, 1)
  context.beginPath()
  context.moveTo(at.x - Math.cos(angle) * length, at.y - Math.sin(angle) * length)
  context.lineTo(at.x + Math.cos(angle) * length, at.y + Math.sin(angle) * length)
  context.stroke()
}

interface Sketch {
  lookAt(x: number, y: number): { red: number; green: number; blue: number; slopeX: number; slopeY: number }
}

/** A small copy for reading colours and brightness gradients, so that the cost does not grow with the resolution. */
function sketchOf({ canvas, width, height }: Sheet): Sketch {
  const columns = Math.ceil(width / SKETCH_CELL)
  const rows = Math.ceil(height / SKETCH_CELL)
  const small = createCanvas(columns, rows)
  const context = small.getContext('2d')
  context.imageSmoothingQuality = 'high'
  context.drawImage(canvas, 0, 0, columns, rows)
  const { data } = context.getImageData(0, 0, columns, rows)
  const offset = (column: number, row: number) =>
    4 * (Math.min(rows - 1, Math.max(0, row)) * columns + Math.min(columns - 1, Math.max(0, column)))
  const channel = (at: number, index: number) => data[at + index] ?? 0
  const brightness = (at: number) => 0.3 * channel(at, 0) + 0.59 * channel(at, 1) + 0.11 * channel(at, 2)
  return {
    lookAt(x, y) {
      const column = Math.floor(x / SKETCH_CELL)
      const row = Math.floor(y / SKETCH_CELL)
      const here = offset(column, row)
      return {
        red: channel(here, 0),
        green: channel(here, 1),
        blue: channel(here, 2),
        slopeX: brightness(offset(column + REACH, row)) - brightness(offset(column - REACH, row)),
        slopeY: brightness(offset(column, row + REACH)) - brightness(offset(column, row - REACH)),
      }
    },
  }
}

// From an opaque ground to the smallest visible stroke.
const brushes: readonly Brush[] = [
  { width: 15, minDetail: 0 },
  { width: 8, minDetail: 1 },
  { width: 4.5, minDetail: 4 },
  { width: 2.6, minDetail: 10 },
]

/** The distance between strokes, in brush widths: close enough to leave no gap. */
const SPACING = 0.8

const MIN_EDGE = 6

/** The distance for gradients, in cells: as far as a broad stroke beside an edge spills over it. */
const REACH = 3

/** In world units: half of the finest brush. */
const SKETCH_CELL = 1.3
