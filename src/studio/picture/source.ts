import { createCanvas, type Image, loadImage } from '@napi-rs/canvas'
import type { Unusable } from '../work.ts'
import { type PictureHeaders, type PictureSize, TooMuch } from './picture-size.ts'
import { withoutExtras } from './png-chunks.ts'
import { type Format, formatOf, readHeaders } from './source-headers.ts'

/** Runs the decoding of a large picture when no other one is being decoded. */
export type Turn = <Result>(decode: () => Promise<Result>) => Promise<Result>

/**
 * Decodes a client's image. Checks the headers first, because a file of a few bytes can decode to an image that fills
 * the memory, and an SVG can load other files.
 */
export async function readSource(bytes: Uint8Array, turn: Turn = decode => decode()): Promise<Image | Unusable> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const format = formatOf(file)
  if (format === undefined) return { unusable: 'The file at image_url is not a PNG, JPEG, WebP, GIF or AVIF image.' }
  try {
    const headers = readHeaders(file, format)
    const pixels = pixelsIn(headers)
    const excess = excessOf(headers.sizes, pixels, format)
    if (excess) return { unusable: excess }
    const decodable = forDecoder(file.subarray(0, headers.end), format)
    const decode = () => loadImage(decodable)
    const image = pixels > largePixels(format) ? await turn(decode) : await decode()
    const decoded = image.width * image.height
    return decoded > 0 && decoded <= pixels ? image : damaged
  } catch (error) {
    return error instanceof TooMuch ? { unusable: `The image at image_url ${error.message}.` } : damaged
  }
}

/** Frees the pixels at once. The garbage collector does not see that memory, and would wait. */
export async function release(image: Image): Promise<void> {
  image.src = smallest
  await image.decode()
}

export const isImage = (source: Image | Unusable): source is Image => !('unusable' in source)

/** The most pixels that the decoder may hold. Throws if there are none. */
function pixelsIn({ sizes, framePixels = 0 }: PictureHeaders): number {
  const areas = sizes.map(({ width, height }) => width * height)
  if (areas.length === 0 || areas.some(area => !(area > 0))) throw new Error('The picture has no pixels.')
  return areas.reduce((most, area) => Math.max(most, area), framePixels)
}

function excessOf(sizes: PictureSize[], pixels: number, format: Format): string | undefined {
  const max = format === 'avif' ? MAX_AVIF_PIXELS : MAX_PIXELS
  const counted = format === 'avif' ? ', counting transparency and all frames' : ''
  if (pixels > max)
    return `The image at image_url has ${inMillions(pixels)} megapixels${counted}; the limit is ${inMillions(max)}.`
  if (sizes.some(({ width, height }) => Math.max(width, height) > MAX_SIDE))
    return `The image at image_url has a side of more than ${MAX_SIDE} pixels.`
  return undefined
}

function forDecoder(file: Buffer, format: Format): Buffer {
  if (format === 'png') return withoutExtras(file)
  return format === 'avif' ? asStill(file) : file
}

const smallest = createCanvas(1, 1).toBuffer('image/png')

const damaged: Unusable = { unusable: 'The image at image_url is damaged.' }

const inMillions = (pixels: number) => Math.ceil(pixels / 1e6)

// More than most phone cameras produce. Decoding takes up to 12 bytes a pixel, of which 4 remain.
const MAX_PIXELS = 64e6

// Decoding AVIF takes up to 22 bytes a pixel, and more with 10 or 12 bits: half a gigabyte for the largest.
const MAX_AVIF_PIXELS = 20e6

// Several of this size can be decoded at a time without filling the memory.
const largePixels = (format: Format) => (format === 'avif' ? 4e6 : 16e6)

// The maximum of JPEG and GIF.
const MAX_SIDE = 65_535

/**
 * An animated AVIF as its still picture, which every such file should have. The decoder would show the first frame
 * instead, whose size is known only from the frame itself. It decides by the brands in the file's first box.
 */
function asStill(file: Buffer): Buffer {
  const brands = file.subarray(BRANDS_AT, Math.max(BRANDS_AT, file.readUInt32BE(0)))
  if (!brands.includes(MOVING)) return file
  const still = Buffer.from(file)
  for (let at = BRANDS_AT; at + 4 <= BRANDS_AT + brands.length; at += 4)
    if (still.toString('latin1', at, at + 4) === MOVING) still.write(STILL, at, 'latin1')
  return still
}

const BRANDS_AT = 8
const [MOVING, STILL] = ['avis', 'avif']
