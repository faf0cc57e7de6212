import { createCanvas } from '@napi-rs/canvas'
import { turnVia } from '../line.ts'
import { type Made, numberIn, type Unusable, type Work } from '../work.ts'
import { encodePicture } from './encode.ts'
import { drawCovering } from './repaint.ts'
import { isImage, readSource, release } from './source.ts'

/** The source as a JPEG whose longer side is at most `max_side` pixels. */
export async function makeThumbnail({ input, source = new Uint8Array(), line }: Work): Promise<Made | Unusable> {
  const image = await readSource(source, turnVia(line))
  if (!isImage(image)) return image
  const scale = Math.min(1, numberIn(input, 'max_side', 512) / Math.max(image.width, image.height))
  const width = Math.max(1, Math.round(image.width * scale))
  const height = Math.max(1, Math.round(image.height * scale))
  const canvas = createCanvas(width, height)
  drawCovering({ canvas, context: canvas.getContext('2d'), pixelsPerUnit: 1, width, height }, image)
  await release(image)
  return encodePicture(canvas, 'jpeg')
}
