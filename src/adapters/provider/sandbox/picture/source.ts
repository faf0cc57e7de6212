import { type Image, loadImage } from '@napi-rs/canvas'
import { imageSize } from 'image-size'
import type { Unusable } from '../work.ts'

/**
 * Decodes a picture that a client gave. Its header is read first: a file of a megabyte can hold a picture that fills
 * the memory, and one of SVG can ask for other files.
 */
export async function readSource(bytes: Uint8Array): Promise<Image | Unusable> {
  const header = headerOf(bytes)
  if (header === undefined || !formats.has(header.type ?? ''))
    return { unusable: 'image_url leads to something that is not a PNG, JPEG, WebP, GIF or AVIF picture.' }
  const pixels = header.width * header.height
  if (pixels > MOST_PIXELS)
    return {
      unusable: `The picture at image_url has ${inMillions(pixels)} megapixels, and ${inMillions(MOST_PIXELS)} is the most.`,
    }
  const image = await loadImage(bytes).catch(() => undefined)
  return image && image.width * image.height > 0 ? image : { unusable: 'The picture at image_url is damaged.' }
}

export const isImage = (source: Image | Unusable): source is Image => !('unusable' in source)

function headerOf(bytes: Uint8Array) {
  try {
    return imageSize(bytes)
  } catch {
    return undefined
  }
}

const inMillions = (pixels: number) => Math.ceil(pixels / 1e6)

const formats: ReadonlySet<string> = new Set(['png', 'jpg', 'webp', 'gif', 'avif'])

// More than the cameras of most phones give, and a quarter of a gigabyte once decoded.
const MOST_PIXELS = 64e6
