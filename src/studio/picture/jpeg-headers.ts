import { limit, type PictureHeaders } from './picture-size.ts'

/**
 * The sizes in all frame headers before the first scan, where the decoder stops too, and the end of the picture. Phones
 * append films to it. Throws if there are too many scans: each may have few bytes, and takes the time of a whole frame.
 */
export function jpegHeaders(file: Buffer): PictureHeaders {
  const headers: PictureHeaders = { sizes: [], end: file.length }
  let scans = 0
  for (let at = 2; ; ) {
    at = markerAfter(file, at)
    const marker = file[at++]
    if (marker === undefined) return headers
    if (marker === END_OF_IMAGE) return { ...headers, end: at }
    if (marker === START_OF_SCAN) limit('scans', ++scans, MAX_SCANS)
    else if (scans === 0 && isFrameHeader(marker))
      headers.sizes.push({ width: file.readUInt16BE(at + 5), height: file.readUInt16BE(at + 3) })
    // The decoder paints the missing end of a truncated file grey.
    if (at + 2 > file.length) return headers
    at += file.readUInt16BE(at)
  }
}

/**
 * The place of the next marker that a segment follows, or of the end of the image. Like the decoder, skips garbage
 * between segments, fill bytes, and the stuffed bytes and restarts of a scan.
 */
function markerAfter(file: Buffer, from: number): number {
  let at = from
  while (at < file.length) {
    if (file[at++] !== 0xff) continue
    while (file[at] === 0xff) at++
    const marker = file[at]
    if (marker !== undefined && marker > TEMPORARY && (marker & 0xf8) !== FIRST_RESTART) return at
  }
  return at
}

/** Three markers in this range are not frames: two are tables, and one was never used. */
const isFrameHeader = (marker: number) => (marker & 0xf0) === 0xc0 && ![0xc4, 0xc8, 0xcc].includes(marker)

const START_OF_SCAN = 0xda
const END_OF_IMAGE = 0xd9
const FIRST_RESTART = 0xd0
const TEMPORARY = 0x01

// Encoders write about ten. The decoder, Skia, stops at the hundredth.
const MAX_SCANS = 99
