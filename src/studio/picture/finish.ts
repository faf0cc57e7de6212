import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas'
import type { Random } from '../random.ts'

/** A drawing surface, in world units. */
export interface Surface {
  context: SKRSContext2D
  width: number
  height: number
}

/** Darkens the corners, as a lens does. */
export function drawVignette({ context, width, height }: Surface): void {
  context.save()
  context.translate(width / 2, height / 2)
  context.scale(width / 2, height / 2)
  const gradient = context.createRadialGradient(0, 0, 0.75, 0, 0, Math.SQRT2)
  gradient.addColorStop(0, 'rgba(0,0,0,0)')
  gradient.addColorStop(1, 'rgba(0,0,0,0.32)')
  context.fillStyle = gradient
  context.fillRect(-1, -1, 2, 2)
  context.restore()
}

/** Adds light film grain, which also hides banding in large gradients. */
export function drawGrain({ context, width, height }: Surface, random: Random): void {
  const tile = createCanvas(GRAIN_TILE, GRAIN_TILE)
  const brush = tile.getContext('2d')
  const image = brush.createImageData(GRAIN_TILE, GRAIN_TILE)
  for (let offset = 0; offset < image.data.length; offset += 4) {
    image.data.fill(random() < 0.5 ? 0 : 255, offset, offset + 3)
    image.data[offset + 3] = random() * MAX_GRAIN
  }
  brush.putImageData(image, 0, 0)
  const pattern = context.createPattern(tile, 'repeat')
  if (pattern === null) return
  context.fillStyle = pattern
  context.fillRect(0, 0, width, height)
}

// Large enough to hide the repetition.
const GRAIN_TILE = 160

// The opacity of the strongest grain, out of 255: barely visible.
const MAX_GRAIN = 9
