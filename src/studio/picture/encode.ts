import type { Canvas } from '@napi-rs/canvas'
import { type Input, type Made, textIn } from '../work.ts'
import { encodePng } from './png.ts'

export type PictureFormat = 'png' | 'jpeg' | 'webp'

/** The format that an input asks for. */
export function formatIn(input: Input): PictureFormat {
  const format = textIn(input, 'output_format')
  return format === 'jpeg' || format === 'webp' ? format : 'png'
}

/** Encodes a canvas and empties it. */
export function encodePicture(canvas: Canvas, format: PictureFormat): Made {
  // Encoding synchronously is right in a worker, which has nothing else to do, and can be ended at any time.
  // What comes from native memory cannot be transferred to another thread, so there is one copy of it.
  const bytes = format === 'png' ? encodePng(canvas) : new Uint8Array(canvas.encodeSync(format, QUALITY))
  // Gives back up to 75 MB at once, of which the garbage collector knows too little to hurry.
  canvas.width = 0
  return { mimeType: `image/${format}`, bytes }
}

// Above 90 the files of both lossy formats grow quickly, and the picture no longer gets better.
const QUALITY = 90
