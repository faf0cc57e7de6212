import { createCanvas, type Image } from '@napi-rs/canvas'
import { translucent } from '../landscape/colour.ts'
import { chooseMood } from '../landscape/mood.ts'
import type { Palette } from '../landscape/palettes.ts'
import { createRandom, hashText } from '../random.ts'
import { type Made, numberIn, textIn, type Unusable, type Work } from '../work.ts'
import { turnVia } from '../worker-channel.ts'
import { drawCaption, type Sheet } from './caption.ts'
import { drawGrain, drawVignette } from './finish.ts'
import { stillSize } from './frame-size.ts'
import { encodePicture, formatIn } from './picture.ts'
import { isImage, readSource, release } from './source.ts'
import { drawStrokes } from './strokes.ts'

/** Repaints the source with brush strokes, in the light that the prompt describes. */
export async function makeRepaint({ input, seed, source = new Uint8Array(), line }: Work): Promise<Made | Unusable> {
  const image = await readSource(source, turnVia(line))
  if (!isImage(image)) return image
  const prompt = textIn(input, 'prompt')
  const random = createRandom(hashText(`${seed} ${prompt}`))
  const { palette } = chooseMood(prompt, random)
  const sheet = blankSheet(stillSize(input, image))
  drawCovering(sheet, image)
  await release(image)
  drawStrokes(sheet, random)
  tint(sheet, palette)
  drawVignette(sheet)
  drawGrain(sheet, random)
  drawCaption(sheet, { prompt, seed })
  return encodePicture(sheet.canvas, formatIn(input))
}

/** A blank canvas with a world of about a million square units, as for landscapes. */
export function blankSheet(size: { width: number; height: number }): Sheet {
  const pixelsPerUnit = Math.sqrt(size.width * size.height) / 1024
  const canvas = createCanvas(size.width, size.height)
  const context = canvas.getContext('2d')
  context.scale(pixelsPerUnit, pixelsPerUnit)
  return { canvas, context, pixelsPerUnit, width: size.width / pixelsPerUnit, height: size.height / pixelsPerUnit }
}

/** Covers the sheet with the image, cropped to fit, on white where it is transparent. */
export function drawCovering({ context, width, height }: Sheet, image: Image): void {
  context.fillStyle = '#ffffff'
  context.fillRect(0, 0, width, height)
  const scale = Math.max(width / image.width, height / image.height)
  const across = width / scale
  const down = height / scale
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, (image.width - across) / 2, (image.height - down) / 2, across, down, 0, 0, width, height)
}

function tint({ context, width, height }: Sheet, palette: Palette): void {
  const light = context.createLinearGradient(0, 0, 0, height)
  palette.sky.forEach((colour, index) => {
    light.addColorStop(index / palette.sky.length, translucent(colour, TINT))
  })
  light.addColorStop(1, translucent(palette.water, TINT))
  context.globalCompositeOperation = 'soft-light'
  context.fillStyle = light
  context.fillRect(0, 0, width, height)
  context.globalCompositeOperation = 'source-over'
}

// Strong enough to tell a sunset from a night, weak enough to keep the image's own colours.
const TINT = 0.7

/** The source as a JPEG or WebP of at most `max_side` pixels on its longer side, and `max_width` across. */
export async function makeThumbnail({ input, source = new Uint8Array(), line }: Work): Promise<Made | Unusable> {
  const image = await readSource(source, turnVia(line))
  if (!isImage(image)) return image
  const [side, across] = [numberIn(input, 'max_side', 512), numberIn(input, 'max_width', image.width)]
  const scale = Math.min(1, side / Math.max(image.width, image.height), across / image.width)
  const width = Math.max(1, Math.round(image.width * scale))
  const height = Math.max(1, Math.round(image.height * scale))
  const canvas = createCanvas(width, height)
  drawCovering({ canvas, context: canvas.getContext('2d'), pixelsPerUnit: 1, width, height }, image)
  await release(image)
  return encodePicture(canvas, textIn(input, 'output_format') === 'webp' ? 'webp' : 'jpeg')
}
