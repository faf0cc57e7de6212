/**
 * Normalises an MP4 file (ISO/IEC 14496-12): moves the index before the frames, so that browsers can play while they
 * load; removes padding; and clears timestamps, so that the same film always has the same bytes.
 */
export function tidyMp4(file: Uint8Array): Uint8Array {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length)
  const top = boxesIn(bytes)
  const [type, index, frames] = ['ftyp', 'moov', 'mdat'].map(name => top.find(box => box.name === name))
  if (!type || !index || !frames) throw new Error('the encoder made an incomplete MP4 file')
  const moved = type.size + index.size - frames.start
  for (const box of within(bytes, index)) {
    if (timed.has(box.name)) clearTimes(bytes, box)
    if (box.name === 'stco') moveChunks(bytes, box, moved)
  }
  return Buffer.concat([type, index, frames].map(({ start, size }) => bytes.subarray(start, start + size)))
}

interface Box {
  name: string
  start: number
  size: number
}

const HEADER_BYTES = 8

function boxesIn(bytes: Buffer, from = 0, to = bytes.length): Box[] {
  const boxes: Box[] = []
  for (let start = from; start + HEADER_BYTES <= to; ) {
    const size = bytes.readUInt32BE(start)
    // The encoder never uses sizes 0 (open-ended) and 1 (over 4 GB).
    if (size < HEADER_BYTES) throw new Error(`the encoder made an MP4 box of size ${size}`)
    boxes.push({ name: bytes.toString('latin1', start + 4, start + HEADER_BYTES), start, size })
    start += size
  }
  return boxes
}

/** All boxes inside a box, at any depth. */
function within(bytes: Buffer, box: Box): Box[] {
  if (!folders.has(box.name)) return [box]
  return boxesIn(bytes, box.start + HEADER_BYTES, box.start + box.size).flatMap(inner => within(bytes, inner))
}

const folders: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
const timed: ReadonlySet<string> = new Set(['mvhd', 'tkhd', 'mdhd'])

/** After version and flags come two timestamps of 4 bytes, or 8 in version 1. */
function clearTimes(bytes: Buffer, { start }: Box): void {
  const from = start + HEADER_BYTES + 4
  bytes.fill(0, from, from + (bytes[start + HEADER_BYTES] === 1 ? 16 : 8))
}

/** After version, flags and a count come the chunks' offsets in the file. */
function moveChunks(bytes: Buffer, { start, size }: Box, by: number): void {
  for (let at = start + HEADER_BYTES + 8; at < start + size; at += 4)
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + by, at)
}
