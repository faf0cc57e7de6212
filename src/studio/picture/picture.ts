import type { Canvas } from '@napi-rs/canvas'
import { drawLandscape } from '../landscape/landscape.ts'
import { type Input, type Made, textIn, type Work } from '../work.ts'
import { drawCaption } from './caption.ts'
import { drawGrain, drawVignette } from './finish.ts'
import { stillSize } from './frame-size.ts'
import { encodePng } from './png.ts'

/** Paints a landscape. The same work always gives the same bytes. */
export async function makePicture({ input, seed }: Work): Promise<Made> {
  const prompt = textIn(input, 'prompt')
  const stage = drawLandscape({ prompt, seed, ...stillSize(input) })
  drawVignette(stage)
  drawGrain(stage, stage.random)
  drawCaption(stage, { prompt, seed })
  return encodePicture(stage.canvas, formatIn(input))
}

type PictureFormat = 'png' | 'jpeg' | 'webp'

/** The format that an input requests. */
export function formatIn(input: Input): PictureFormat {
  const format = textIn(input, 'output_format')
  return format === 'jpeg' || format === 'webp' ? format : 'png'
}

/** Encodes a canvas and empties it. */
export function encodePicture(canvas: Canvas, format: PictureFormat): Made {
  // Synchronous encoding is fine in a worker, which has nothing else to do and can be terminated at any time.
  // Native memory cannot be transferred to another thread, hence the copy.
  const bytes = format === 'png' ? encodePng(canvas) : new Uint8Array(canvas.encodeSync(format, QUALITY))
  // Frees up to 75 MB at once. The garbage collector does not see that memory, and would wait.
  canvas.width = 0
  return { mimeType: `image/${format}`, bytes }
}

// Above 90, lossy files grow quickly without looking better.
const QUALITY = 90
