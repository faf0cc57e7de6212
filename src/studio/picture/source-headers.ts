import { imageSize } from 'image-size'
import { avifHeaders } from './avif-headers.ts'
import { jpegHeaders } from './jpeg-headers.ts'
import type { PictureHeaders, PictureSize } from './picture-size.ts'

export type Format = keyof typeof readers

/** Detects the format from the first bytes alone, like the decoder. */
export function formatOf(file: Buffer): Format | undefined {
  const start = file.toString('latin1', 0, 12)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'gif'
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'webp'
  if (start.endsWith('ftypavif') || start.endsWith('ftypavis')) return 'avif'
  return undefined
}

/** Throws TooMuch if decoding would take too much, and another error if the file is broken. */
export const readHeaders = (file: Buffer, format: Format): PictureHeaders => readers[format](file)

const readers = {
  png: (file: Buffer) => ({ sizes: [imageSize(file)], end: file.length }),
  webp: (file: Buffer) => ({ sizes: [imageSize(file)], end: 8 + file.readUInt32LE(4) }),
  avif: avifHeaders,
  jpeg: jpegHeaders,
  gif: (file: Buffer) => ({ sizes: gifSizes(file), end: file.length }),
}

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

const EXTENSION = 0x21
const FRAME = 0x2c
