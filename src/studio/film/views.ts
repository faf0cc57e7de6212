import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas'
import { drawLandscape, type LandscapeView } from '../landscape/landscape.ts'
import type { Sheet } from '../picture/caption.ts'
import { type Camera, windowOf } from './camera.ts'

/** Draws the frame at `share` of a film of `seconds`. */
export type View = (sheet: Sheet, share: number, seconds: number) => void

/** A landscape with moving water and a foreground that passes by faster. */
export function landscapeView(view: LandscapeView, camera: Camera): View {
  const { canvas, front, waterline, pixelsPerUnit } = drawLandscape({ ...larger(view), inLayers: true })
  const water = waterline === undefined ? undefined : waterOf(canvas, Math.round(waterline * pixelsPerUnit))
  return (sheet, share, seconds) => {
    const look = camera(share)
    const back = windowOf(canvas, look)
    fill(sheet, canvas, back)
    if (water) drawSwell(sheet, water, back, share * seconds)
    if (front) fill(sheet, front.canvas, windowOf(canvas, look, FOREGROUND))
  }
}

/** A picture that the camera moves over. */
export function pictureView(canvas: Canvas, camera: Camera): View {
  return (sheet, share) => fill(sheet, canvas, windowOf(canvas, camera(share)))
}

/** The scene is slightly larger than the frame, so that it stays sharp when the camera zooms in. */
export function larger<Size extends { width: number; height: number }>(size: Size): Size {
  return { ...size, width: Math.round(size.width * OVERSIZE), height: Math.round(size.height * OVERSIZE) }
}

interface Window {
  x: number
  y: number
  width: number
  height: number
}

function fill({ context, width, height }: Sheet, canvas: Canvas, { x, y, width: across, height: down }: Window): void {
  context.drawImage(canvas, x, y, across, down, 0, 0, width, height)
}

interface Water {
  canvas: Canvas
  /** Its top edge in the landscape, in pixels. */
  top: number
}

/** A copy of the water alone, because drawing a strip costs in proportion to its source canvas. */
function waterOf(canvas: Canvas, top: number): Water {
  const water = createCanvas(canvas.width, canvas.height - top)
  water.getContext('2d').drawImage(canvas, 0, -top)
  return { canvas: water, top }
}

/** Shifts thin strips of the water to and fro, and nearer strips more. */
function drawSwell(sheet: Sheet, { canvas, top }: Water, window: Window, second: number): void {
  const { context, height } = sheet
  const scale = height / window.height
  const shore = (top - window.y) * scale
  for (let down = 0; shore + down < height; ) {
    const share = down / (height - shore)
    const strip = 2 + 5 * share
    const swell = Math.sin(second * 1.7 + 80 * share ** 0.6) + 0.5 * Math.sin(second * 2.9 + 190 * share ** 0.6)
    const shift = swell * (0.3 + 2.6 * share)
    drawStrip(context, canvas, window, { top: shore + down, from: down / scale, strip, shift, scale })
    down += strip
  }
}

function drawStrip(
  context: SKRSContext2D,
  canvas: Canvas,
  window: Window,
  at: { top: number; from: number; strip: number; shift: number; scale: number },
): void {
  const margin = Math.abs(at.shift) / at.scale
  const left = Math.max(0, window.x - margin)
  const right = Math.min(canvas.width, window.x + window.width + margin)
  // Past the edge of the picture, the unshifted strip underneath shows.
  context.drawImage(
    canvas,
    left,
    at.from,
    right - left,
    at.strip / at.scale,
    (left - window.x) * at.scale + at.shift,
    at.top,
    (right - left) * at.scale,
    at.strip + 0.5,
  )
}

// About the camera's largest zoom: more would paint pixels that no frame shows.
const OVERSIZE = 1.14

const FOREGROUND = 1.7
