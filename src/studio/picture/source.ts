import { type Image, loadImage } from '@napi-rs/canvas'
import type { Unusable } from '../work.ts'
import { withoutExtras } from './png-chunks.ts'
import { type Format, formatOf, sizesIn } from './source-size.ts'

/**
 * Decodes a picture that a client gave. Its headers are read first: a file of a few bytes can hold a picture that fills
 * the memory, and one of SVG can ask for other files.
 */
export async function readSource(bytes: Uint8Array): Promise<Image | Unusable> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const format = formatOf(file)
  if (format === undefined)
    return { unusable: 'image_url leads to something that is not a PNG, JPEG, WebP, GIF or AVIF picture.' }
  const sizes = attempt(() => sizesIn(file, format)) ?? []
  if (sizes.length === 0 || sizes.some(({ width, height }) => !(width > 0 && height > 0))) return damaged
  const pixels = sizes.reduce((most, { width, height }) => Math.max(most, width * height), 0)
  if (pixels > MOST_PIXELS)
    return {
      unusable: `The picture at image_url has ${inMillions(pixels)} megapixels, and ${inMillions(MOST_PIXELS)} is the most.`,
    }
  if (sizes.some(({ width, height }) => Math.max(width, height) > LONGEST_SIDE))
    return { unusable: `The picture at image_url has a side of more than ${LONGEST_SIDE} pixels.` }
  const decodable = attempt(() => forDecoder(file, format))
  const image = decodable && (await loadImage(decodable).catch(() => undefined))
  if (!image) return damaged
  const decoded = image.width * image.height
  return decoded > 0 && decoded <= pixels ? image : damaged
}

export const isImage = (source: Image | Unusable): source is Image => !('unusable' in source)

const forDecoder = (file: Buffer, format: Format) => (format === 'png' ? withoutExtras(file) : file)

/** What is read, or nothing where the file is broken, such as by ending too soon. */
function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const damaged: Unusable = { unusable: 'The picture at image_url is damaged.' }

const inMillions = (pixels: number) => Math.ceil(pixels / 1e6)

// More than the cameras of most phones give, and a quarter of a gigabyte once decoded. While AVIF is being decoded it is
// up to six times as much.
const MOST_PIXELS = 64e6

// What JPEG and GIF can hold at the most.
const LONGEST_SIDE = 65_535
