import { createCanvas, loadImage } from '@napi-rs/canvas'
import type { BrandLogo } from '../../../domain/brand.ts'

/** A logo as a PDF holds it: a JPEG on white. */
export interface DrawnLogo {
  jpeg: Uint8Array
  /** In points. */
  width: number
  height: number
}

/** In points: as high as the name beside it with some air, and not wider than a quarter of the line. */
export const LOGO_HEIGHT = 24
const MAX_WIDTH = 120

/** Six pixels a point are more than printers show. */
const SCALE = 6

/**
 * Draws a logo, since PDFs hold neither SVG nor WebP. A transparent picture would make the order of the objects in the
 * file depend on timing. Rejects if the file is no picture.
 */
export const drawLogo = async ({ type, bytes }: BrandLogo): Promise<DrawnLogo> => {
  const file = Buffer.from(bytes)
  const image = await loadImage(file)
  const ratio = (type === 'image/svg+xml' && viewBoxRatio(file.toString())) || image.width / image.height
  if (!(ratio > 0 && ratio < Number.POSITIVE_INFINITY)) throw new Error('the picture is empty')
  const width = Math.min(LOGO_HEIGHT * ratio, MAX_WIDTH)
  const height = width / ratio
  const canvas = createCanvas(Math.ceil(width * SCALE), Math.ceil(height * SCALE))
  // An SVG is drawn in its own size, unless it has another one before.
  image.width = canvas.width
  image.height = canvas.height
  const context = canvas.getContext('2d')
  context.fillStyle = '#ffffff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  return { jpeg: await canvas.encode('jpeg', 95), width, height }
}

/** The proportions of an SVG, which the library knows only of one with a width and a height. */
const viewBoxRatio = (svg: string): number | undefined => {
  const [, box] = /<svg\b[^>]*?\sviewBox\s*=\s*["']([^"']+)["']/.exec(svg) ?? []
  const [, , width = 0, height = 0] =
    box
      ?.trim()
      .split(/[\s,]+/)
      .map(Number) ?? []
  return width / height
}
