import { readFile } from 'node:fs/promises'
import { crc32, deflateSync } from 'node:zlib'
import { createCanvas } from '@napi-rs/canvas'
import t from 'tap'
import { Inspection } from '../../../src/services/uploads/inspection.ts'
import { acceptedOf, contentRefusal } from '../../../src/services/uploads/upload-rules.ts'
import { withoutExtras } from '../../../src/studio/picture/png-chunks.ts'
import { isImage, readSource, release, type Turn } from '../../../src/studio/picture/source.ts'
import { readHeaders } from '../../../src/studio/picture/source-headers.ts'
import { movingAvif } from '../../support/moving-avif.ts'
import { sampleFiles } from '../../support/sample-files.ts'

const canvas = createCanvas(60, 40)
const context = canvas.getContext('2d')
context.fillStyle = '#c33'
context.fillRect(0, 0, 60, 40)
const png = await canvas.encode('png')
const jpeg = await canvas.encode('jpeg')
const webp = await canvas.encode('webp')
const avif = await canvas.encode('avif')
const megapixel = await createCanvas(1000, 1000).encode('avif', { speed: 10 })
/** A single-colour picture from the encoder, with as many pixels of transparency. */
const large = await readFile('test/studio/picture/flat-65-megapixels.avif')

const u16 = (value: number) => Buffer.from([value & 255, value >> 8])
const u16be = (value: number) => Buffer.from([value >> 8, value & 255])
const u32 = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])

const gifComment = Buffer.from([0x21, 0xfe, 2, 0x2c, 0x2c, 0])
const exif = Buffer.concat([Buffer.from([0xff, 0xe1, 0, 34]), Buffer.from('Exif\0\0MM\0*'), Buffer.alloc(22)])
const clap = Buffer.concat([u32(40), Buffer.from('clap'), u32(0), u32(0x7fffffff), u32(0x7fffffff), Buffer.alloc(20)])

t.test('small files with large pictures are refused before they take memory', async t => {
  const bombs: [string, Uint8Array, RegExp][] = [
    ['a GIF whose frame is larger than its screen', gif([20_000, 20_000]), /400 megapixels/],
    ['a GIF whose frame begins far outside', gif([1, 1, 60_000, 60_000]), /megapixels/],
    ['a GIF with an extension before its frame', gif([20_000, 20_000], gifComment), /400 megapixels/],
    ['a JPEG with another size in a comment, after a fill byte', jpegWithDecoy(), /80 megapixels/],
    ['an AVIF that is clipped', withProperty(large, clap), /130 megapixels/],
    ['an AVIF that declares a wrong size', stating(large, 1, 1), /130 megapixels/],
    ['an AVIF that declares an impossible size', stating(avif, 2 ** 31, 2 ** 31), /megapixels/],
    ['an AVIF that declares no size', replaced(avif, 'ispe', 'free'), /damaged/],
    ['an AVIF grid of many items', avifWith(16_000), /256 megapixels/],
    ['an AVIF that moves and declares a wrong size', stating(movingAvif(large, avif), 1, 1), /130 megapixels/],
    ['an AVIF without pixels', stating(avif, 0, 40), /damaged/],
    ['a PNG without pixels', pngOf(0, 5), /damaged/],
    ['a PNG with a side that no other format can have', pngOf(70_000, 1), /a side of more/],
    ['a WebP whose frame is larger than its canvas', extendedWebp(1, 1), /damaged/],
    ['a WebP with a large canvas', extendedWebp(16_000_000, 1), /a side of more/],
  ]
  const before = process.resourceUsage().maxRSS
  for (const [name, bytes, message] of bombs) t.match(await refusal(bytes), message, name)
  const grown = (process.resourceUsage().maxRSS - before) / 1024
  t.ok(grown < 200, `it took ${Math.round(grown)} MB`)
})

t.test('valid pictures are accepted, with all features of the formats', async t => {
  const pictures: [string, Uint8Array, number, number][] = [
    ['PNG', png, 60, 40],
    ['PNG with text and something after its end', Buffer.concat([withChunk(png, 'tEXt', 99), u32(7)]), 60, 40],
    ['JPEG', jpeg, 60, 40],
    ['JPEG with EXIF', Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]), 60, 40],
    ['JPEG with bytes that fill', filled(jpeg), 60, 40],
    ['WebP', webp, 60, 40],
    ['WebP that moves', extendedWebp(60, 40, 2), 60, 40],
    ['AVIF', avif, 60, 40],
    ['AVIF that moves', movingAvif(avif, megapixel), 60, 40],
    ['AVIF whose frames are far larger than its picture', movingAvif(avif, large), 60, 40],
    ['AVIF with an unused property', withProperty(avif, clap), 60, 40],
    ['AVIF with transparency', await createCanvas(60, 40).encode('avif'), 60, 40],
    ['GIF', gif([1, 1]), 1, 1],
    ['GIF that moves', Buffer.concat([gif([1, 1], gifComment).subarray(0, -1), gif([1, 1]).subarray(19)]), 1, 1],
  ]
  const before = process.resourceUsage().maxRSS
  for (const [name, bytes, width, height] of pictures) {
    const source = await readSource(bytes)
    t.same(isImage(source) ? [source.width, source.height] : source, [width, height], name)
  }
  const grown = (process.resourceUsage().maxRSS - before) / 1024
  t.ok(grown < 200, `it took ${Math.round(grown)} MB`)
})

t.test('every image that is accepted as an upload is accepted as an input', async t => {
  const samples = Object.entries(await sampleFiles()).filter(([type]) => acceptedOf('image').includes(type))
  t.equal(samples.length, acceptedOf('image').length)
  for (const [type, file] of [...samples, ['image/avif', movingAvif(avif, avif)] as const]) {
    const inspection = new Inspection()
    inspection.update(file)
    t.equal(contentRefusal(await inspection.result(), type), undefined, type)
    t.ok(isImage(await readSource(file)), type)
  }
})

t.test('a file truncated anywhere gives a picture or a refusal', async t => {
  for (const [name, bytes] of Object.entries({ png, jpeg, webp, avif, gif: gif([1, 1]) })) {
    const lengths = Array.from({ length: Math.min(bytes.length, 400) }, (_, length) => length)
    const sources = await Promise.allSettled(lengths.map(length => readSource(bytes.subarray(0, length))))
    t.same([...new Set(sources.map(({ status }) => status))], ['fulfilled'], name)
  }
})

t.test('overlapping items of an AVIF are not all read', async t => {
  t.same(readHeaders(avifWith(5), 'avif').sizes, [
    { width: 1, height: 1 },
    { width: 5, height: 5 },
  ])
  t.throws(() => readHeaders(avifWith(5, 900), 'avif'), /larger than the file/)
})

t.test('a file with more parts than any program writes is refused at once', async t => {
  const boxes = Buffer.alloc(800_000, box('free'))
  const units = box('idat', Buffer.alloc(200_000, Buffer.from([0x0a, 0])))
  // Version 1 without offsets and lengths, so that a piece has no bytes in this box.
  const item = Buffer.concat([u16be(1), u16be(1), u16be(0), u16be(65_535)])
  const endless = box('iloc', u32(0x01000000), u16be(0), u16be(1_000), Buffer.alloc(1_000 * item.length, item))
  const small = box('idat', Buffer.of(0))
  const files: [string, Buffer, RegExp][] = [
    ['an AVIF of many boxes', fileOf(boxes, metaOf(small, oneItem())), /more than 1000 boxes; save it again/],
    ['an AVIF with many boxes inside', fileOf(metaOf(small, oneItem(), boxes)), /1000 boxes/],
    ['an AVIF of many items', fileOf(metaOf(small, box('iloc', u32(0), u16be(0), u16be(1_001)))), /1000 items/],
    ['an AVIF of endless pieces', fileOf(metaOf(small, endless), Buffer.alloc(2 ** 20)), /1000 pieces/],
    ['an AVIF of many units', fileOf(metaOf(units, oneItem())), /1000 units/],
    ['an AVIF with a large table', fileOf(metaOf(small, oneItem(), box('iinf', Buffer.alloc(2 ** 17)))), /65536 bytes/],
    [
      'an AVIF of many frames',
      avifOfFrames(51),
      /102 megapixels, counting transparency and all frames; the limit is 20/,
    ],
    ['a JPEG of many scans', jpegOfScans(100), /more than 99 scans/],
    ['a PNG of many chunks', withChunk(png, 'IDAT', 0, 100_000), /more than 100000 chunks/],
  ]
  for (const [name, file, message] of files) t.match(await refusal(file), message, name)
  t.match(await refusal(jpegOfScans(99)), /decoded/, 'the maximum of scans')
})

t.test('anything may follow a picture, and the decoder does not get it', async t => {
  // What looks like a frame header of 100 megapixels, a scan, and a box that ends before it begins.
  const film = Buffer.alloc(
    2 ** 20,
    Buffer.from([0, 0, 0, 3, 0xff, 0xc0, 0, 17, 8, 0x27, 0x10, 0x27, 0x10, 0xff, 0xda]),
  )
  for (const [name, file] of Object.entries({ png, jpeg, webp, avif, gif: gif([60, 40]) }))
    t.equal(await refusal(Buffer.concat([file, film])), 'decoded as 60 × 40', name)
  t.equal(readHeaders(Buffer.concat([jpeg, film]), 'jpeg').end, jpeg.length)
  t.equal(readHeaders(Buffer.concat([webp, film]), 'webp').end, webp.length)
  t.equal(withoutExtras(Buffer.concat([png, film])).length, withoutExtras(png).length)
})

t.test('only large pictures wait for their turn', async t => {
  let turns = 0
  const turn: Turn = decode => {
    turns++
    return decode()
  }
  t.ok(isImage(await readSource(png, turn)))
  t.equal(turns, 0)
  t.ok(isImage(await readSource(blackPng(4_100, 4_000), turn)))
  t.equal(turns, 1)
})

t.test('a picture can be released at once', async t => {
  const image = await readSource(blackPng(4_100, 4_000))
  if (!isImage(image)) throw new Error(image.unusable)
  const before = process.memoryUsage.rss()
  await release(image)
  const freed = (before - process.memoryUsage.rss()) / 2 ** 20
  t.ok(freed > 40, `it freed ${Math.round(freed)} of 62 MB`)
})

t.test('the decoder gets only the chunks of a PNG that it needs', async t => {
  const plain = withoutExtras(png)
  const hidden = 20_000_000
  const stuffed = withChunk(png, 'teSt', hidden)
  t.equal(stuffed.length, png.length + 12 + hidden)
  t.ok(withoutExtras(stuffed).equals(plain), 'an unknown chunk')
  t.ok(withoutExtras(withChunk(png, 'iCCP', hidden)).equals(plain), 'an invalid profile')
  const profile = withChunk(png, 'iCCP', 500_000)
  t.ok(withoutExtras(profile).includes('iCCP'), 'a profile of maximum usual size')
  t.equal(withoutExtras(withChunk(profile, 'iCCP', 400_000)).length, plain.length + 12 + 400_000, 'one profile only')
  t.throws(() => withoutExtras(png.subarray(0, -20)), 'a truncated chunk')
  t.throws(() => withoutExtras(Buffer.concat([png.subarray(0, 8), png.subarray(33)])), 'a missing header')
  t.ok(isImage(await readSource(stuffed)))
})

async function refusal(bytes: Uint8Array): Promise<string> {
  const source = await readSource(bytes)
  return isImage(source) ? `decoded as ${source.width} × ${source.height}` : source.unusable
}

/** A screen of one pixel, and a frame of another size elsewhere. */
function gif([width, height, left = 0, top = 0]: number[], extension = Buffer.alloc(0)): Buffer {
  const screen = Buffer.concat([u16(1), u16(1), Buffer.from([0x80, 0, 0, 255, 0, 0, 0, 255, 0])])
  const frame = Buffer.concat([Buffer.from([0x2c]), ...[left, top, width ?? 1, height ?? 1].map(u16), Buffer.of(0)])
  const pixels = Buffer.from([2, 2, 0x44, 1, 0])
  return Buffer.concat([Buffer.from('GIF89a'), screen, extension, frame, pixels, Buffer.of(0x3b)])
}

/** The comment's length is correct. A reader that takes the fill byte for its marker ends up inside the comment. */
function jpegWithDecoy(): Buffer {
  const comment = Buffer.alloc(65_531, 'A')
  comment.set([0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1, 3], 0xfeff - 3)
  const large = Buffer.from(jpeg)
  const frame = large.indexOf(Buffer.from([0xff, 0xc0]))
  large.writeUInt16BE(8_000, frame + 5)
  large.writeUInt16BE(10_000, frame + 7)
  return Buffer.concat([large.subarray(0, 2), Buffer.from([0xff, 0xff, 0xfe, 0xff, 0xfd]), comment, large.subarray(2)])
}

/** Adds fill bytes before every segment up to the first scan. */
function filled(file: Buffer): Buffer {
  const parts = [file.subarray(0, 2)]
  let at = 2
  for (; file[at + 1] !== 0xda; at += 2 + file.readUInt16BE(at + 2))
    parts.push(Buffer.of(0xff, 0xff, 0xff), file.subarray(at, at + 2 + file.readUInt16BE(at + 2)))
  return Buffer.concat([...parts, file.subarray(at)])
}

/** Adds an unused property, and shifts everything after it. */
function withProperty(file: Buffer, property: Buffer): Buffer {
  const ipco = file.indexOf('ipco') - 4
  const end = ipco + file.readUInt32BE(ipco)
  const whole = Buffer.concat([file.subarray(0, end), property, file.subarray(end)])
  for (const kind of ['meta', 'iprp', 'ipco']) {
    const at = file.indexOf(kind) - 4
    whole.writeUInt32BE(file.readUInt32BE(at) + property.length, at)
  }
  // Each item is a single extent. Its offset is four bytes between its number and its length.
  const iloc = file.indexOf('iloc')
  for (let at = iloc + 12; at < file.indexOf('iinf') - 4; at += 14)
    whole.writeUInt32BE(file.readUInt32BE(at + 6) + property.length, at + 6)
  return whole
}

/** A grid of a given side in several extents, each of which is the whole grid, and a declared size of one pixel. */
function avifWith(side: number, pieces = 1): Buffer {
  const grid = box('idat', u32(0), u16be(side), u16be(side))
  return fileOf(metaOf(grid, oneItem(pieces)))
}

function box(kind: string, ...bodies: Buffer[]): Buffer {
  const body = Buffer.concat(bodies)
  return Buffer.concat([u32(8 + body.length), Buffer.from(kind), body])
}

function fileOf(...boxes: Buffer[]): Buffer {
  return Buffer.concat([box('ftyp', Buffer.from('avif'), u32(0)), ...boxes])
}

/** A declared size of one pixel, and other boxes. */
function metaOf(...boxes: Buffer[]): Buffer {
  return box('meta', u32(0), box('iprp', box('ipco', box('ispe', u32(0), u32(1), u32(1)))), ...boxes)
}

/** The item has no bases, offsets and lengths, which means all data within the header. */
function oneItem(pieces = 1): Buffer {
  return box('iloc', u32(0x01000000), u16be(0), u16be(1), u16be(1), u16be(1), u16be(0), u16be(pieces))
}

/** Pairs of frames of a megapixel, for colours and transparency. The decoder would show the first. */
function avifOfFrames(count: number): Buffer {
  const data = megapixel.subarray(megapixel.indexOf('mdat') + 4)
  return fileOf(metaOf(box('idat', ...Array.from({ length: count }, () => data)), oneItem()))
}

/** Grey blocks: one scan for their brightness, and the others for details that are all zero. */
function jpegOfScans(count: number): Buffer {
  const segment = (marker: number, ...bytes: number[]) =>
    Buffer.concat([Buffer.from([0xff, marker]), u16be(bytes.length + 2), Buffer.from(bytes)])
  const zeros = (length: number) => Array.from({ length }, () => 0)
  // Each table has a single code of one bit.
  const tables = [0x00, 0x10].map(table => segment(0xc4, table, 1, ...zeros(15), 0))
  const first = Buffer.concat([segment(0xda, 1, 1, 0, 0, 0, 0), Buffer.of(0)])
  const other = Buffer.concat([segment(0xda, 1, 1, 0, 1, 63, 0), Buffer.of(0)])
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, 0, ...Array.from({ length: 64 }, () => 1)),
    segment(0xc2, 8, 0, 8, 0, 8, 1, 1, 0x11, 0),
    ...tables,
    first,
    ...Array.from({ length: count - 1 }, () => other),
    Buffer.from([0xff, 0xd9]),
  ])
}

/** One bit a pixel, and a palette, so that it is decoded to four bytes. */
function blackPng(width: number, height: number): Buffer {
  const chunk = (kind: string, body: Buffer) => {
    const content = Buffer.concat([Buffer.from(kind), body])
    return Buffer.concat([u32(body.length), content, u32(crc32(content))])
  }
  const header = Buffer.concat([u32(width), u32(height), Buffer.from([1, 3, 0, 0, 0])])
  const palette = chunk('PLTE', Buffer.alloc(6))
  const rows = deflateSync(Buffer.alloc(height * (1 + Math.ceil(width / 8))))
  const end = chunk('IEND', Buffer.alloc(0))
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', header), palette, chunk('IDAT', rows), end])
}

function stating(file: Buffer, width: number, height: number): Buffer {
  const other = Buffer.from(file)
  const at = other.indexOf('ispe') + 8
  other.writeUInt32BE(width, at)
  other.writeUInt32BE(height, at + 4)
  return other
}

function replaced(file: Buffer, word: string, other: string): Buffer {
  const whole = Buffer.from(file)
  for (let at = whole.indexOf(word); at >= 0; at = whole.indexOf(word)) whole.write(other, at)
  return whole
}

function pngOf(width: number, height: number): Buffer {
  const other = Buffer.from(png)
  other.writeUInt32BE(width, 16)
  other.writeUInt32BE(height, 20)
  return other
}

/** Adds chunks after the header. */
function withChunk(file: Buffer, kind: string, length: number, count = 1): Buffer {
  const content = Buffer.concat([Buffer.from(kind), Buffer.alloc(length, 'A')])
  const chunk = Buffer.concat([u32(length), content, u32(crc32(content))])
  return Buffer.concat([file.subarray(0, 33), Buffer.alloc(count * chunk.length, chunk), file.subarray(33)])
}

/** A picture of 60 × 40, still or as the frames of an animation. */
function extendedWebp(width: number, height: number, frames = 0): Buffer {
  const chunk = (kind: string, body: Buffer) =>
    Buffer.concat([Buffer.from(kind), u16(body.length & 0xffff), u16(body.length >> 16), body])
  const sides = (across: number, down: number) =>
    Buffer.from([across - 1, down - 1].flatMap(side => [side & 255, (side >> 8) & 255, side >> 16]))
  const picture = webp.subarray(webp.indexOf('VP8 '))
  const moving = chunk('ANIM', Buffer.alloc(6))
  const frame = chunk('ANMF', Buffer.concat([Buffer.alloc(6), sides(60, 40), Buffer.from([100, 0, 0, 0]), picture]))
  const header = chunk('VP8X', Buffer.concat([Buffer.from([frames > 0 ? 2 : 0, 0, 0, 0]), sides(width, height)]))
  const body = frames > 0 ? [moving, ...Array.from({ length: frames }, () => frame)] : [picture]
  const file = chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), header, ...body]))
  return file
}
