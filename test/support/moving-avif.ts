/**
 * An animated AVIF of one frame, which is the first picture of another AVIF. Its still picture is that of the first.
 * The boxes are those of ISO/IEC 14496-12.
 */
export const movingAvif = (still: Uint8Array, frame: Uint8Array): Buffer => {
  const file = Buffer.from(still)
  file.write('avis', file.indexOf('ftyp') + 4)
  file.write('avis', file.indexOf('MA1'))
  const data = boxOf(Buffer.from(frame), 'mdat').subarray(8)
  const inPlace = box('mdat', data)
  return Buffer.concat([file, inPlace, movie(Buffer.from(frame), data.length, file.length + 8)])
}

const movie = (frame: Buffer, sizeBytes: number, offset: number): Buffer => {
  const ispe = boxOf(frame, 'ispe')
  const [width, height] = [ispe.readUInt32BE(12), ispe.readUInt32BE(16)]
  const sample = box(
    'av01',
    zeros(6),
    u16(1),
    ...[zeros(16), u16(width), u16(height), u32(0x480000), u32(0x480000), u32(0), u16(1), zeros(32), u16(24), u16(-1)],
    boxOf(frame, 'av1C'),
  )
  const table = box(
    'stbl',
    box('stsd', u32(0), u32(1), sample),
    box('stts', u32(0), u32(1), u32(1), u32(1)),
    box('stsc', u32(0), u32(1), u32(1), u32(1), u32(1)),
    box('stsz', u32(0), u32(sizeBytes), u32(1)),
    box('stco', u32(0), u32(1), u32(offset)),
  )
  const source = box('dinf', box('dref', u32(0), u32(1), box('url ', u32(1))))
  const media = box(
    'mdia',
    box('mdhd', u32(0), zeros(8), u32(30), u32(1), zeros(4)),
    box('hdlr', zeros(8), Buffer.from('pict'), zeros(13)),
    box('minf', box('vmhd', u32(1), zeros(8)), source, table),
  )
  const track = box('tkhd', u32(1), zeros(8), u32(1), zeros(4), u32(1), zeros(52), u32(width << 16), u32(height << 16))
  return box('moov', box('mvhd', u32(0), zeros(8), u32(30), u32(1), zeros(80)), box('trak', track, media))
}

/** The first box of a kind, with its head. */
const boxOf = (file: Buffer, kind: string): Buffer => {
  const at = file.indexOf(kind) - 4
  return file.subarray(at, at + file.readUInt32BE(at))
}

const box = (kind: string, ...bodies: Buffer[]): Buffer => {
  const body = Buffer.concat(bodies)
  return Buffer.concat([u32(8 + body.length), Buffer.from(kind), body])
}

const zeros = (length: number) => Buffer.alloc(length)

const u16 = (value: number) => Buffer.from([(value >> 8) & 255, value & 255])
const u32 = (value: number) => Buffer.from([value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255])
