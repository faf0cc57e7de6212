import type { Canvas } from '@napi-rs/canvas'
import { type Input, type Made, textIn } from '../work.ts'
import { encodePng } from './png.ts'

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
