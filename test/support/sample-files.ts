import { createCanvas } from '@napi-rs/canvas'
import { openEncoder } from '../../src/studio/film/encoder.ts'

/** A small image. The shade changes its bytes. */
export const picture = async (format: 'png' | 'jpeg' | 'webp' | 'avif' | 'gif', shade = 128): Promise<Buffer> => {
  const canvas = createCanvas(8, 8)
  const context = canvas.getContext('2d')
  context.fillStyle = `rgb(${shade} ${shade} 0)`
  context.fillRect(0, 0, 8, 8)
  // Only the last overload accepts all formats, but TypeScript requires a single one.
  return canvas.encode(format as 'png')
}

/** A film of two small frames. */
export const film = async (): Promise<Buffer> => {
  const encoder = await openEncoder({ width: 16, height: 16, framesPerSecond: 2 })
  for (const shade of [0, 255]) encoder.add(new Uint8Array(16 * 16 * 4).fill(shade))
  return Buffer.from(encoder.finish())
}

/** The boxes of a film without a frame, whose last one extends to the end of the file. */
export const tinyFilm = (): Buffer => {
  const frames = box('mdat')
  frames.writeUInt32BE(0)
  return Buffer.concat([box('ftyp', Buffer.from('mp42\0\0\0\0mp42isom')), box('moov'), frames])
}

/** A hundredth of a second of silence. */
export const tinySound = (samples = Buffer.alloc(320)): Buffer => {
  const header = Buffer.from('RIFF....WAVEfmt ....\x01\0\x01\0........\x02\0\x10\0data....', 'latin1')
  for (const [at, value] of [
    [4, 36 + samples.length],
    [16, 16],
    [24, 16_000],
    [28, 32_000],
    [40, samples.length],
  ] as const)
    header.writeUInt32LE(value, at)
  return Buffer.concat([header, samples])
}

/** The first box of a film from QuickTime or an iPhone, and an empty box. */
const quickTimeFilm = () =>
  Buffer.concat([box('ftyp', Buffer.from('qt  \0\0\0\0qt  ')), box('wide'), box('mdat', Buffer.alloc(64))])

/** A WebM header: https://www.matroska.org/technical/elements.html */
const webmFilm = () =>
  Buffer.concat([element('1a45dfa3', element('4282', Buffer.from('webm'))), element('18538067', Buffer.alloc(64))])

/** One file of each accepted type. */
export const sampleFiles = async (): Promise<Record<string, Buffer>> => ({
  'image/png': await picture('png'),
  'image/jpeg': await picture('jpeg'),
  'image/webp': await picture('webp'),
  'image/gif': await picture('gif'),
  'image/avif': await picture('avif'),
  'video/mp4': await film(),
  'video/webm': webmFilm(),
  'video/quicktime': quickTimeFilm(),
})

/** A PNG with an extra chunk after its header. The checksum is omitted, because nothing checks it. */
export const pngWith = (png: Buffer, type: string, data: Buffer): Buffer => {
  const behindHeader = 8 + 25
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)])
  chunk.writeUInt32BE(data.length)
  return Buffer.concat([png.subarray(0, behindHeader), chunk, png.subarray(behindHeader)])
}

/** A JPEG that starts with an application segment, as cameras and programs write them. */
export const jpegWith = (jpeg: Buffer, application: number, data: Buffer): Buffer => {
  const header = Buffer.from([0xff, 0xe0 + application, 0, 0])
  header.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([jpeg.subarray(0, 2), header, data, jpeg.subarray(2)])
}

/** A ZIP archive of one empty file, with a comment. */
export const zipArchive = (comment = ''): Buffer => {
  const name = Buffer.from('a.txt')
  const local = Buffer.alloc(30)
  local.write('PK\u0003\u0004', 'latin1')
  local.writeUInt16LE(name.length, 26)
  const entry = Buffer.alloc(46)
  entry.write('PK\u0001\u0002', 'latin1')
  entry.writeUInt16LE(name.length, 28)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(entry.length + name.length, 12)
  end.writeUInt32LE(local.length + name.length, 16)
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([local, name, entry, name, end, Buffer.from(comment)])
}

const box = (type: string, data = Buffer.alloc(0)): Buffer => {
  const header = Buffer.from(`....${type}`)
  header.writeUInt32BE(header.length + data.length)
  return Buffer.concat([header, data])
}

const element = (id: string, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x80 | data.length]), data])
