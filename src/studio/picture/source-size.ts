import { imageSize } from 'image-size'
import { avifSizes } from './avif-size.ts'
import type { PictureSize } from './picture-size.ts'

export type Format = keyof typeof readers

/** Detects the format from the first bytes alone, like the decoder. */
export function formatOf(file: Buffer): Format | undefined {
  const start = file.toString('latin1', 0, 12)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'gif'
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'webp'
  if (start.endsWith('ftypavif')) return 'avif'
  return undefined
}

/**
 * Every size for which the decoder may allocate memory. It can differ from the size that other tools report, and an
 * attacker can exploit that to fill the memory. Throws if the file is broken.
 */
export const sizesIn = (file: Buffer, format: Format): PictureSize[] => readers[format](file)

const readers = {
  png: (file: Buffer) => [imageSize(file)],
  webp: (file: Buffer) => [imageSize(file)],
  avif: avifSizes,
  jpeg: jpegSizes,
  gif: gifSizes,
}

/** The sizes in all frame headers before the first scan, where the decoder stops too. */
function jpegSizes(file: Buffer): PictureSize[] {
  const sizes: PictureSize[] = []
  let at = 2
  for (;;) {
    // Like the decoder, skips garbage between segments, and fill bytes.
    at = file.indexOf(0xff, at)
    if (at < 0) return sizes
    while (file[at] === 0xff) at++
    const marker = file[at++]
    if (marker === undefined || marker === START_OF_SCAN || marker === END_OF_IMAGE) return sizes
    if (marker <= TEMPORARY || (marker & 0xf8) === FIRST_RESTART) continue
    if (isFrameHeader(marker)) sizes.push({ width: file.readUInt16BE(at + 5), height: file.readUInt16BE(at + 3) })
    at += file.readUInt16BE(at)
  }
}

/** Three markers in this range are not frames: two are tables, and one was never used. */
const isFrameHeader = (marker: number) => (marker & 0xf0) === 0xc0 && ![0xc4, 0xc8, 0xcc].includes(marker)

/** The screen, enlarged if the first frame exceeds it, like in the decoder. */
function gifSizes(file: Buffer): PictureSize[] {
  const size = { width: file.readUInt16LE(6), height: file.readUInt16LE(8) }
  let at = 13 + colourTableLength(file.readUInt8(10))
  for (;;) {
    const block = file[at]
    if (block === FRAME) {
      return [
        {
          width: Math.max(size.width, file.readUInt16LE(at + 1) + file.readUInt16LE(at + 5)),
          height: Math.max(size.height, file.readUInt16LE(at + 3) + file.readUInt16LE(at + 7)),
        },
      ]
    }
    if (block !== EXTENSION) return []
    at += 2
    for (let length = file.readUInt8(at); length > 0; length = file.readUInt8(at)) at += 1 + length
    at += 1
  }
}

const colourTableLength = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0)

const START_OF_SCAN = 0xda
const END_OF_IMAGE = 0xd9
const FIRST_RESTART = 0xd0
const TEMPORARY = 0x01

const EXTENSION = 0x21
const FRAME = 0x2c
