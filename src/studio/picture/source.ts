import { type Image, loadImage } from '@napi-rs/canvas'
import type { Unusable } from '../work.ts'
import { withoutExtras } from './png-chunks.ts'
import { type Format, formatOf, sizesIn } from './source-size.ts'

/**
 * Decodes a client's image. Checks the headers first, because a file of a few bytes can decode to an image that fills
 * the memory, and an SVG can load other files.
 */
export async function readSource(bytes: Uint8Array): Promise<Image | Unusable> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const format = formatOf(file)
  if (format === undefined) return { unusable: 'The file at image_url is not a PNG, JPEG, WebP, GIF or AVIF image.' }
  const sizes = attempt(() => sizesIn(file, format)) ?? []
  if (sizes.length === 0 || sizes.some(({ width, height }) => !(width > 0 && height > 0))) return damaged
  const pixels = sizes.reduce((most, { width, height }) => Math.max(most, width * height), 0)
  if (pixels > MAX_PIXELS)
    return {
      unusable: `The image at image_url has ${inMillions(pixels)} megapixels; the limit is ${inMillions(MAX_PIXELS)}.`,
    }
  if (sizes.some(({ width, height }) => Math.max(width, height) > MAX_SIDE))
    return { unusable: `The image at image_url has a side of more than ${MAX_SIDE} pixels.` }
  const decodable = attempt(() => forDecoder(file, format))
  const image = decodable && (await loadImage(decodable).catch(() => undefined))
  if (!image) return damaged
  const decoded = image.width * image.height
  return decoded > 0 && decoded <= pixels ? image : damaged
}

export const isImage = (source: Image | Unusable): source is Image => !('unusable' in source)

const forDecoder = (file: Buffer, format: Format) => (format === 'png' ? withoutExtras(file) : file)

/** Returns undefined for a broken file, such as a truncated one. */
function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const damaged: Unusable = { unusable: 'The image at image_url is damaged.' }

const inMillions = (pixels: number) => Math.ceil(pixels / 1e6)

// More than most phone cameras produce, and a quarter of a gigabyte once decoded. Decoding AVIF takes up to six times
// as much.
const MAX_PIXELS = 64e6

// The maximum of JPEG and GIF.
const MAX_SIDE = 65_535
