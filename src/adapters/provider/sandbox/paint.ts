import { type Canvas, createCanvas } from '@napi-rs/canvas'
import { drawCaption } from './caption.ts'
import { chooseMood } from './mood.ts'
import { encodePng } from './png.ts'
import { createRandom, hashText } from './random.ts'
import { drawScene } from './scene.ts'
import { drawSky } from './sky.ts'
import { createStage, type Stage } from './stage.ts'

export interface Picture {
  prompt: string
  seed: number
  width: number
  height: number
  format: 'png' | 'jpeg' | 'webp'
}

/** Draws a landscape and encodes it. The same picture always gives the same bytes. */
export async function paint(picture: Picture): Promise<Uint8Array<ArrayBuffer>> {
  // The size stays out of the seed, so that the same prompt gives the same view at a higher resolution.
  const random = createRandom(hashText(`${picture.seed} ${picture.prompt}`))
  const mood = chooseMood(picture.prompt, random)
  const stage = createStage(picture, mood.palette, random)
  drawSky(stage)
  drawScene(stage, mood.scene)
  drawVignette(stage)
  drawGrain(stage)
  drawCaption(stage, picture)
  const bytes = encode(stage.canvas, picture.format)
  // Gives back up to 75 MB at once, of which the garbage collector knows too little to hurry.
  stage.canvas.width = 0
  return bytes
}

function drawVignette({ context, width, height }: Stage): void {
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

/** A trace of film grain, which also hides the steps that 8 bits leave in a large gradient. */
function drawGrain({ context, random, width, height }: Stage): void {
  const tile = createCanvas(GRAIN_TILE, GRAIN_TILE)
  const brush = tile.getContext('2d')
  const image = brush.createImageData(GRAIN_TILE, GRAIN_TILE)
  for (let offset = 0; offset < image.data.length; offset += 4) {
    image.data.fill(random() < 0.5 ? 0 : 255, offset, offset + 3)
    image.data[offset + 3] = random() * MOST_GRAIN
  }
  brush.putImageData(image, 0, 0)
  const pattern = context.createPattern(tile, 'repeat')
  if (pattern === null) return
  context.fillStyle = pattern
  context.fillRect(0, 0, width, height)
}

function encode(canvas: Canvas, format: Picture['format']): Uint8Array<ArrayBuffer> {
  // Encoding synchronously is right in a worker, which has nothing else to do, and can be ended at any time.
  if (format === 'png') return encodePng(canvas)
  // What comes from native memory cannot be transferred to another thread, so this is the one copy there is.
  return new Uint8Array(canvas.encodeSync(format, QUALITY))
}

// Large enough that the eye does not find the repetition.
const GRAIN_TILE = 160

// The opacity, out of 255, of the strongest grain: felt rather than seen.
const MOST_GRAIN = 9

// Above 90 the files of both lossy formats grow quickly, and the picture no longer gets better.
const QUALITY = 90
