/**
 * The start of a picture without the texts in its metadata, such as prompts and descriptions, which may mention
 * anything. Everything after a violation of the format is kept.
 */
export const withoutTexts = (head: Buffer): Buffer => {
  const rest = Buffer.from(head)
  for (const [from, to] of textsIn(head)) rest.fill(0, from, Math.min(to, rest.length))
  return rest
}

type Place = [from: number, to: number]

const textsIn = (head: Buffer): Place[] => {
  const start = head.toString('latin1', 0, 12)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return [...pngTexts(head)]
  if (start.startsWith('\xff\xd8\xff')) return [...jpegTexts(head)]
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return [...webpTexts(head)]
  return start.startsWith('GIF8') ? [...gifTexts(head)] : []
}

/** Chunks of text, and of EXIF, which holds descriptions and comments. */
const PNG_TEXTS = new Set(['tEXt', 'zTXt', 'iTXt', 'eXIf'])

function* pngTexts(head: Buffer): Generator<Place> {
  for (let at = 8; at + 8 <= head.length; ) {
    const from = at + 8
    const to = from + head.readUInt32BE(at)
    if (PNG_TEXTS.has(head.toString('latin1', at + 4, from))) yield [from, to]
    at = to + 4
  }
}

/** EXIF, XMP, IPTC and comments. */
const JPEG_TEXTS = new Set([0xe1, 0xed, 0xfe])

function* jpegTexts(head: Buffer): Generator<Place> {
  for (let at = 2; at + 4 <= head.length && head[at] === 0xff; ) {
    const marker = head[at + 1] as number
    // The scan holds the pixels.
    if (marker === 0xda) return
    const to = at + 2 + head.readUInt16BE(at + 2)
    if (JPEG_TEXTS.has(marker)) yield [at + 4, to]
    at = to
  }
}

const WEBP_TEXTS = new Set(['EXIF', 'XMP '])

function* webpTexts(head: Buffer): Generator<Place> {
  for (let at = 12; at + 8 <= head.length; ) {
    const from = at + 8
    const to = from + head.readUInt32LE(at + 4)
    if (WEBP_TEXTS.has(head.toString('latin1', at, at + 4))) yield [from, to]
    at = to + (to % 2)
  }
}

/** Comments before the first frame, in blocks that start with their length. */
function* gifTexts(head: Buffer): Generator<Place> {
  const flags = head[10] ?? 0
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0)
  while (head[at] === 0x21) {
    const isComment = head[at + 1] === 0xfe
    at += 2
    for (let length = head[at] ?? 0; length > 0; length = head[at] ?? 0) {
      if (isComment) yield [at + 1, at + 1 + length]
      at += 1 + length
    }
    at++
  }
}
