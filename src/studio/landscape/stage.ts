import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas'
import { between, type Random } from '../random.ts'
import type { Palette } from './palettes.ts'

/** The context of all drawing functions: the canvas, the size of the world and its light. */
export interface Stage {
  canvas: Canvas
  context: SKRSContext2D
  /** A separate canvas for the foreground, if it moves. */
  front?: { canvas: Canvas; context: SKRSContext2D }
  palette: Palette
  random: Random
  /** The size of the picture in world units. The resolution only changes the pixels per unit. */
  width: number
  height: number
  pixelsPerUnit: number
  /** The base length for mountains, trees and the sun, so that they keep their shape in any aspect ratio. */
  unit: number
  /** The extra height of a tall picture, which is filled with more ranges, like a hanging scroll. */
  spread: number
  /** Where the land meets the water or, without water, the foreground. */
  shore: number
  /** Where the sky meets the most distant land. */
  horizon: number
  light: { x: number; y: number }
}

export function createStage(
  size: { width: number; height: number; inLayers?: boolean },
  palette: Palette,
  random: Random,
): Stage {
  const pixelsPerUnit = Math.sqrt(size.width * size.height) / WORLD_SIDE
  const width = size.width / pixelsPerUnit
  const height = size.height / pixelsPerUnit
  const unit = Math.min(height, width * TALLEST_UNIT)
  const spread = Math.max(0, height - TALLEST_UNIT * unit) / 2
  const shore = height - unit * between(random, 0.32, 0.38)
  const horizon = shore - spread
  const layer = () => {
    const canvas = createCanvas(size.width, size.height)
    const context = canvas.getContext('2d')
    context.scale(pixelsPerUnit, pixelsPerUnit)
    return { canvas, context }
  }
  // The rule of thirds.
  const across = between(random, 0.24, 0.4)
  const light = {
    x: width * (random() < 0.5 ? across : 1 - across),
    y: horizon - unit * between(random, ...palette.altitude),
  }
  return {
    ...layer(),
    ...(size.inLayers && { front: layer() }),
    ...{ palette, random, width, height, pixelsPerUnit, unit, spread, shore, horizon, light },
  }
}

/** The stage for the foreground. */
export function inFront(stage: Stage): Stage {
  return { ...stage, ...stage.front }
}

/** Draws soft shapes at low resolution and scales them up: cheap at any resolution, and free of edges. */
export function drawSoftly(
  stage: Stage,
  area: { x: number; y: number; width: number; height: number; cell: number },
  shade: (x: number, y: number, pixel: Uint8ClampedArray) => void,
): void {
  const columns = Math.ceil(area.width / area.cell)
  const rows = Math.ceil(area.height / area.cell)
  const small = createCanvas(columns, rows)
  const brush = small.getContext('2d')
  const image = brush.createImageData(columns, rows)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const offset = (row * columns + column) * 4
      shade(
        area.x + (column + 0.5) * area.cell,
        area.y + (row + 0.5) * area.cell,
        image.data.subarray(offset, offset + 4),
      )
    }
  }
  brush.putImageData(image, 0, 0)
  stage.context.imageSmoothingQuality = 'high'
  stage.context.drawImage(small, area.x, area.y, columns * area.cell, rows * area.cell)
}

// Drawing uses a world of about a million square units, so one design serves every resolution.
const WORLD_SIDE = 1024

// Land much taller than the picture's width no longer looks like land.
const TALLEST_UNIT = 1.2
