import { limit, type PictureHeaders, type PictureSize } from './picture-size.ts'

/**
 * All sizes in an AVIF file: the declared ones, and the actual ones of its items, for which the decoder allocates
 * memory. Ignores clipping, which the decoder does last. Throws if the file is broken, or has too many parts.
 */
export function avifHeaders(file: Buffer): PictureHeaders {
  const meta = boxesIn(contentOf(firstMeta(file)))
  const [iloc, iprp] = [only('iloc', meta), only('iprp', meta)]
  const inProperties = boxesIn(iprp.body)
  const properties = boxesIn(only('ipco', inProperties).body)
  for (const { kind, body } of [...meta, ...inProperties])
    if (tables.has(kind)) limit('bytes in a table', body.length, MAX_TABLE_BYTES)
  const declared = properties.filter(({ kind }) => kind === 'ispe').map(({ body }) => sizeAt(body, 4))
  if (declared.length === 0) throw new Error('No size is declared.')
  const inside = meta.find(({ kind }) => kind === 'idat')?.body ?? Buffer.alloc(0)
  const items = itemsIn(iloc.body, file, inside)
  const contents = items.map(contentOfItem)
  return {
    sizes: [...declared, ...contents.flatMap(({ sizes }) => sizes)],
    framePixels: contents.reduce((sum, { framePixels }) => sum + framePixels, 0),
    end: file.length,
  }
}

interface Box {
  kind: string
  body: Buffer
}

/** The decoder, too, looks no further than the first one; anything may follow. */
function firstMeta(file: Buffer): Box {
  let count = 0
  for (const box of walk(file)) {
    limit('boxes', ++count, MAX_PARTS)
    if (box.kind === 'meta') return box
  }
  throw new Error('There is no meta.')
}

function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = []
  for (const box of walk(bytes)) {
    boxes.push(box)
    limit('boxes', boxes.length, MAX_PARTS)
  }
  return boxes
}

function* walk(bytes: Buffer): Generator<Box> {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const short = bytes.readUInt32BE(at)
    const isLong = short === 1
    const length = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short || bytes.length - at
    const start = at + (isLong ? 16 : 8)
    if (at + length < start) throw new Error('A box ends before it begins.')
    yield { kind: bytes.toString('latin1', at + 4, at + 8), body: bytes.subarray(start, at + length) }
    at += length
  }
}

/** Rejects duplicates, because the decoder might read the other one. */
function only(kind: string, boxes: readonly Box[]): Box {
  const [box, ...others] = boxes.filter(box => box.kind === kind)
  if (box === undefined || others.length > 0) throw new Error(`There must be exactly one ${kind}.`)
  return box
}

/** Skips the version and flags. */
const contentOf = ({ body }: Box) => body.subarray(4)

const sizeAt = (bytes: Buffer, at: number): PictureSize => ({
  width: bytes.readUInt32BE(at),
  height: bytes.readUInt32BE(at + 4),
})

/** The bytes of each item, which may be split into several extents. */
function itemsIn(iloc: Buffer, file: Buffer, inside: Buffer): Buffer[] {
  let at = 4
  const next = (length: number) => {
    const value = length === 8 ? Number(iloc.readBigUInt64BE(at)) : length === 0 ? 0 : iloc.readUIntBE(at, length)
    at += length
    return value
  }
  const version = iloc.readUInt8(0)
  const [offsets, lengths] = halves(next(1))
  const [bases, indices] = halves(next(1))
  const count = next(version < 2 ? 2 : 4)
  limit('items', count, MAX_PARTS)
  const items: Buffer[] = []
  let left = 2 * file.length
  let pieceCount = 0
  for (let index = 0; index < count; index++) {
    next(version < 2 ? 2 : 4)
    const from = version > 0 && (next(2) & 0x0f) === 1 ? inside : file
    next(2)
    const base = next(bases)
    const ownCount = next(2)
    pieceCount += ownCount
    limit('pieces', pieceCount, MAX_PARTS)
    const pieces = Array.from({ length: ownCount }, () => {
      if (version > 0) next(indices)
      const start = base + next(offsets)
      const piece = from.subarray(start, start + (next(lengths) || from.length))
      if (piece.length === 0) throw new Error('An item is empty.')
      return piece
    })
    // Overlapping items could make a small file take forever.
    left -= pieces.reduce((sum, piece) => sum + piece.length, 0)
    if (left < 0) throw new Error('The items are larger than the file.')
    items.push(Buffer.concat(pieces))
  }
  return items
}

const halves = (byte: number) => [byte >> 4, byte & 0x0f] as const

type Content = Pick<PictureHeaders, 'sizes' | 'framePixels'>

/** Other items, such as EXIF, contain neither sizes nor frames. */
function contentOfItem(item: Buffer): Required<Content> {
  // The images that it combines are items of their own.
  if (isGrid(item)) return { sizes: [gridSize(item)], framePixels: 0 }
  const units = unitsIn(item)
  const sizes = units.filter(({ kind }) => kind === SEQUENCE_HEADER).map(({ body }) => sizeOfSequence(body))
  const largest = Math.max(0, ...sizes.map(({ width, height }) => width * height))
  return { sizes, framePixels: largest * units.filter(({ kind }) => frames.has(kind)).length }
}

/** A grid, which combines other images, has just these few bytes; the first is the version. */
const isGrid = (item: Buffer) => item[0] === 0 && (item.length === 8 || item.length === 12)

const gridSize = (item: Buffer): PictureSize =>
  item.length === 12 ? sizeAt(item, 4) : { width: item.readUInt16BE(4), height: item.readUInt16BE(6) }

interface Unit {
  kind: number
  body: Buffer
}

function unitsIn(item: Buffer): Unit[] {
  const units: Unit[] = []
  for (let at = 0; at < item.length; ) {
    const head = item.readUInt8(at++)
    if (head & HAS_EXTENSION) at++
    let length = item.length - at
    if (head & HAS_LENGTH) {
      length = 0
      for (let shift = 0, more = true; more; shift += 7) {
        const byte = item.readUInt8(at++)
        length += (byte & 0x7f) * 2 ** shift
        more = byte > 0x7f && shift < 49
      }
    }
    units.push({ kind: (head >> 3) & 0x0f, body: item.subarray(at, at + length) })
    limit('units in an item', units.length, MAX_PARTS)
    at += length
  }
  return units
}

/** Section 5.5.1 of the AV1 specification. This is the maximum size of a frame. */
function sizeOfSequence(header: Buffer): PictureSize {
  let at = 0
  const next = (bits: number) => {
    let value = 0
    for (; bits > 0; bits--, at++) value = value * 2 + ((header.readUInt8(at >> 3) >> (7 - (at & 7))) & 1)
    return value
  }
  next(4)
  const isReduced = next(1) === 1
  if (isReduced) next(5)
  else {
    if (next(1) === 1) throw new Error('Only a video has timing.')
    const hasDelay = next(1) === 1
    for (let points = next(5) + 1; points > 0; points--) {
      next(12)
      if (next(5) > 7) next(1)
      if (hasDelay && next(1) === 1) next(4)
    }
  }
  const widthBits = next(4) + 1
  const heightBits = next(4) + 1
  return { width: next(widthBits) + 1, height: next(heightBits) + 1 }
}

const HAS_EXTENSION = 0x04
const HAS_LENGTH = 0x02
const SEQUENCE_HEADER = 1

/** Frame headers, and frames that include theirs. A frame that is not shown stays in memory as a reference. */
const frames: ReadonlySet<number> = new Set([3, 6])

// A camera writes about ten boxes, and a picture of 48 megapixels has some 400 items if it is made of small tiles.
const MAX_PARTS = 1_000

/** These have an entry for every item, which takes the decoder far more memory than the file. */
const tables: ReadonlySet<string> = new Set(['iloc', 'iinf', 'iref', 'ipma'])

// For the maximum number of items; most entries have about twenty bytes.
const MAX_TABLE_BYTES = 64 * 1024
