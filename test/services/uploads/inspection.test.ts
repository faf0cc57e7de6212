import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { Inspection, type InspectionResult, inspect } from '../../../src/services/uploads/inspection.ts'
import { acceptedOf, acceptedTypes } from '../../../src/services/uploads/upload-rules.ts'
import { movingAvif } from '../../support/moving-avif.ts'
import { film, jpegWith, picture, pngWith, sampleFiles, zipArchive } from '../../support/sample-files.ts'

/** The number of bytes that are read for the type, for marks and at the end. */
const [HEAD, MARKS, TAIL] = [4_100, 1_024, 22 + 65_535]

const samples = await sampleFiles()
const png = samples['image/png'] as Buffer
const jpeg = samples['image/jpeg'] as Buffer
const gif = samples['image/gif'] as Buffer

const inPieces = (file: Buffer, pieceBytes: number): Promise<InspectionResult> => {
  const inspection = new Inspection()
  for (let at = 0; at < file.length; at += pieceBytes) inspection.update(file.subarray(at, at + pieceBytes))
  return inspection.result()
}

const inspectBytes = (file: Buffer | string) => inPieces(Buffer.from(file), 16_384)

/** A file of `bytes` bytes, random between start and end. */
const filled = (bytes: number, start: Buffer, end: Buffer = Buffer.alloc(0)) =>
  Buffer.concat([start, randomBytes(bytes - start.length - end.length), end])

t.test('each accepted type is detected and is not ambiguous', async t => {
  t.same(Object.keys(samples), acceptedTypes)
  for (const [mimeType, file] of Object.entries(samples)) {
    const sha256 = createHash('sha256').update(file).digest('hex')
    t.same(await inspectBytes(file), { sizeBytes: file.length, sha256, mimeType, alsoIs: undefined, isCutOff: false })
    t.same(await inPieces(file, 1), await inspectBytes(file), `${mimeType}, byte by byte`)
  }
})

t.test('a picture without its end is detected as cut off', async t => {
  for (const type of acceptedOf('image')) {
    const file = samples[type] as Buffer
    const tellsSize = type === 'image/webp' || type === 'image/avif'
    const cut = Buffer.concat([file.subarray(0, file.length - 13), Buffer.alloc(tellsSize ? 0 : 100_000)])
    t.match(await inspectBytes(cut), { mimeType: type, isCutOff: true }, type)
    t.match(
      await inspectBytes(Buffer.concat([file, Buffer.alloc(1000)])),
      { isCutOff: false },
      `${type} with trailing bytes`,
    )
  }
})

t.test('a picture without pixels or without an area is detected as cut off', async t => {
  const flat = Buffer.from(png)
  flat.writeUInt32BE(0, 20)
  const cases = {
    'a PNG of a header': Buffer.concat([png.subarray(0, 33), png.subarray(-12)]),
    'a PNG without height': flat,
    'a JPEG of tables': Buffer.concat([jpeg.subarray(0, jpeg.indexOf(Buffer.from([0xff, 0xda]))), jpeg.subarray(-2)]),
    'a GIF of a header': Buffer.concat([gif.subarray(0, 10), Buffer.from([0, 0, 0, 0x3b])]),
  }
  for (const [name, file] of Object.entries(cases)) t.equal((await inspectBytes(file)).isCutOff, true, name)
})

t.test('an AVIF is whole once its description and its data are', async t => {
  const avif = samples['image/avif'] as Buffer
  const data = avif.indexOf('mdat') - 4
  const [start, end] = [avif.subarray(0, data), avif.subarray(data)]
  const long = Buffer.concat([Buffer.from('\0\0\0\x01mdat\0\0\0\0....'), end.subarray(8)])
  long.writeUInt32BE(long.length, 12)
  const endless = Buffer.from(end)
  endless.writeUInt32BE(0)
  const box = Buffer.from('\0\0\0\x0cfree....')
  const head = avif.readUInt32BE()
  const whole: Record<string, Buffer[]> = {
    'with a box before its data': [start, box, end],
    'with its data first': [avif.subarray(0, head), end, avif.subarray(head, data)],
    'with a long length': [start, long],
    'with data to the end of the file': [start, endless],
    'without data of its own': [start],
    'with a few bytes behind it': [avif, Buffer.from('abc')],
    'that moves': [movingAvif(avif, avif)],
  }
  for (const [name, parts] of Object.entries(whole))
    for (const pieceBytes of [1, 10_000])
      t.match(await inPieces(Buffer.concat(parts), pieceBytes), { mimeType: 'image/avif', isCutOff: false }, name)
  const cut: Record<string, Buffer> = {
    'within its first box': avif.subarray(0, head - 1),
    'behind its first box': avif.subarray(0, head),
    'within its description': avif.subarray(0, data - 1),
    'within the head of its data': avif.subarray(0, data + 5),
    'before its last byte': avif.subarray(0, -1),
    'before its last byte, with a long length': Buffer.concat([start, long.subarray(0, -1)]),
    'with a box that is shorter than its head': Buffer.concat([avif.subarray(0, head), Buffer.from('\0\0\0\x07meta')]),
  }
  for (const [name, file] of Object.entries(cut))
    for (const pieceBytes of [1, 10_000])
      t.match(await inPieces(file, pieceBytes), { mimeType: 'image/avif', isCutOff: true }, name)
})

t.test('anything may follow the end of a picture', async t => {
  // Without the end markers of pictures, and far more than is kept of the file's end.
  const film = Buffer.alloc(300_000, 'moov')
  for (const type of acceptedOf('image')) {
    const file = samples[type] as Buffer
    t.match(
      await inspectBytes(Buffer.concat([file, film])),
      { mimeType: type, alsoIs: undefined, isCutOff: false },
      type,
    )
  }
  const whole = await inPieces(Buffer.concat([jpeg, film]), film.length + jpeg.length)
  t.same(await inPieces(Buffer.concat([jpeg, film]), 1), whole, 'byte by byte')
})

t.test('an end marker within a picture is not its end', async t => {
  const [thumbnail, text] = [Buffer.concat([Buffer.from('Exif\0\0'), jpeg]), Buffer.from('x\0IEND')]
  const pictures: Record<string, Buffer> = {
    'a JPEG with a thumbnail': jpegWith(jpeg, 1, thumbnail),
    'a PNG with text': pngWith(png, 'tEXt', text),
    'a GIF with a comment': Buffer.concat([
      gif.subarray(0, 13),
      Buffer.from('\x21\xfe\x02\x00\x3b\0', 'latin1'),
      Buffer.alloc(13),
    ]),
  }
  for (const [name, file] of Object.entries(pictures))
    t.match(await inspectBytes(file.subarray(0, file.length - 13)), { isCutOff: true }, name)
  t.match(await inspectBytes(jpegWith(jpeg, 1, thumbnail)), { isCutOff: false })
  t.match(await inspectBytes(pngWith(png, 'tEXt', text)), { isCutOff: false })
})

t.test('a picture that consists of lengths alone is not followed to its end', async t => {
  const start = Buffer.from('GIF89a\x01\0\x01\0\0\0\0\x21\xfe', 'latin1')
  const file = Buffer.concat([start, Buffer.alloc(3_000_000, '\x01x'), Buffer.from('\0\x3b')])
  t.match(await inspectBytes(file), { mimeType: 'image/gif', isCutOff: true })
})

t.test('the digest covers all bytes', async t => {
  // The examples of FIPS 180-2.
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  const million = 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'
  for (const pieceBytes of [1, 2, 100]) t.equal((await inPieces(Buffer.from('abc'), pieceBytes)).sha256, abc)
  t.match(await inspectBytes('a'.repeat(1_000_000)), { sizeBytes: 1_000_000, sha256: million })
})

t.test('the result does not depend on the size of the pieces', async t => {
  const archive = zipArchive()
  const sizes = [HEAD, TAIL, 2 * TAIL, 3 * TAIL].flatMap(size => [size - 1, size, size + 1])
  for (const bytes of sizes)
    for (const end of [archive, Buffer.alloc(0)]) {
      const file = filled(bytes, png, end)
      const whole = await inPieces(file, bytes)
      t.match(whole, { sizeBytes: bytes, mimeType: 'image/png', alsoIs: end === archive ? 'a ZIP archive' : undefined })
      for (const pieceBytes of [1, 1000, HEAD, 65_536, TAIL])
        t.same(await inPieces(file, pieceBytes), whole, `${bytes} bytes by ${pieceBytes}`)
    }
})

t.test('a stream is read to its end', async t => {
  const file = filled(200_000, png, zipArchive())
  t.same(await inspect(Readable.from([file.subarray(0, 3), file.subarray(3)])), await inspectBytes(file))
  await t.rejects(inspect(Readable.from(breaking(file))), /broke/)
})

t.test('a file too short for any type has an unknown type', async t => {
  for (const file of ['', 'x', '\xff', 'PK', 'PK\u0005'])
    t.match(await inspectBytes(file), { sizeBytes: Buffer.byteLength(file), mimeType: undefined, alsoIs: undefined })
})

t.test('animated PNGs and PNGs with long headers are PNGs', async t => {
  const frames = Buffer.from([0, 0, 0, 1, 0, 0, 0, 0])
  t.match(await inspectBytes(pngWith(png, 'acTL', frames)), { mimeType: 'image/png', alsoIs: undefined })
  t.match(await inspectBytes(pngWith(png, 'iCCP', Buffer.alloc(20_000))), { mimeType: 'image/png', alsoIs: undefined })
})

t.test('the video brand of iTunes is detected as MP4', async t => {
  const named = await film()
  named.write('M4V ', 8)
  t.match(await inspectBytes(named), { mimeType: 'video/mp4', alsoIs: undefined })
})

t.test('other types are not mistaken for an accepted one', async t => {
  const others: Record<string, Buffer | string> = {
    SVG: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    'SVG with a prologue': '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>',
    HTML: '<!doctype html><title>x</title>',
    PDF: '%PDF-1.7\n1 0 obj',
    text: 'Dear diary, today it rained.',
    PHP: "<?php system('ls');",
    'a Windows program': Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100)]),
    'a Linux program': Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01', 'latin1'), Buffer.alloc(100)]),
    'a ZIP archive': zipArchive(),
    HEIC: Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1'),
    Matroska: (samples['video/webm'] as Buffer).toString('latin1').replace('\x84webm', '\x88matroska'),
    'a sound': Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1'),
    BMP: Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]),
  }
  for (const [name, file] of Object.entries(others)) {
    const { mimeType } = await inspectBytes(file)
    t.notOk((acceptedTypes as readonly (string | undefined)[]).includes(mimeType), `${name} is ${mimeType}`)
  }
})

t.test('a file that is also something else is detected', async t => {
  const polyglots: [file: Buffer, alsoIs: string][] = [
    [Buffer.concat([png, zipArchive()]), 'a ZIP archive'],
    [Buffer.concat([gif, zipArchive('a comment')]), 'a ZIP archive'],
    [Buffer.concat([gif.subarray(0, 13), Buffer.from('<script>alert(1)</script>')]), 'a web page'],
    [Buffer.concat([gif, Buffer.from('<SCRIPT\nsrc=//example.com>')]), 'a web page'],
    [pngWith(png, 'teSt', Buffer.from('x\0<svg onload=alert(1)>')), 'a web page'],
    [Buffer.concat([png.subarray(0, 33), Buffer.from('\0\0\0\0tEXt<svg onload=alert(1)>')]), 'a web page'],
    [Buffer.concat([jpeg.subarray(0, 2), Buffer.from('<html><script>'), jpeg.subarray(2)]), 'a web page'],
    [pngWith(png, 'tEXt', Buffer.from("x\0<?php system('ls') ?>")), 'a PHP script'],
    [jpegWith(jpeg, 14, Buffer.from('%PDF-1.4 1 0 obj')), 'a PDF document'],
    [jpegWith(jpeg, 14, Buffer.from('<!DOCTYPE html>')), 'a web page'],
  ]
  for (const [file, alsoIs] of polyglots)
    for (const pieceBytes of [1, file.length]) t.match(await inPieces(file, pieceBytes), { alsoIs })
})

t.test('marks are found up to the end of the range where readers look', async t => {
  for (const mark of ['%PDF-', '<script>', '<?php']) {
    const file = filled(5000, png)
    file.write(mark, MARKS - mark.length, 'latin1')
    t.ok((await inspectBytes(file)).alsoIs, mark)
  }
})

t.test('an archive is found wherever ZIP readers find it', async t => {
  const archive = zipArchive()
  const comment = 'x'.repeat(65_535)
  const zip64 = zipArchive()
  zip64.fill(0xff, zip64.length - 10, zip64.length - 2)
  const found: Record<string, Buffer> = {
    'with the longest comment': Buffer.concat([png, zipArchive(comment)]),
    'with a comment longer than declared': Buffer.concat([png, archive, Buffer.from(comment)]),
    'with a truncated comment': Buffer.concat([png, zipArchive(comment).subarray(0, archive.length + 9)]),
    'with one trailing byte': Buffer.concat([png, archive, Buffer.from('x')]),
    'with sizes of 64 bits': Buffer.concat([png, zip64]),
    'after a false end record': Buffer.concat([png, archive, Buffer.from('PK\u0005\u0006')]),
  }
  for (const [name, file] of Object.entries(found)) t.match(await inspectBytes(file), { alsoIs: 'a ZIP archive' }, name)
})

t.test('a false end record is no archive and does not hide one', async t => {
  const end = Buffer.concat([Buffer.from('PK\u0005\u0006'), Buffer.alloc(18, 0x77)])
  const cut = [4, 14, 21].map(bytes => Buffer.concat([png, end.subarray(0, bytes)]))
  for (const file of [Buffer.concat([png, end]), filled(100_000, png, end), ...cut])
    t.match(await inspectBytes(file), { mimeType: 'image/png', alsoIs: undefined })
  t.match(await inspectBytes(Buffer.concat([png, end, zipArchive()])), { alsoIs: 'a ZIP archive' })
})

t.test('common metadata and trailing media are allowed', async t => {
  const exif = Buffer.concat([Buffer.from('Exif\0\0MM\0*\0\0\0\b'), Buffer.alloc(2000)])
  const xmp = Buffer.from(`http://ns.adobe.com/xap/1.0/\0<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description>
<rdf:Alt><rdf:li xml:lang="x-default">The &lt;head&gt; of a bay</rdf:li></rdf:Alt></dc:description></rdf:Description>
</rdf:RDF></x:xmpmeta><?xpacket end="w"?>`)
  const pictures: Record<string, Buffer> = {
    'with EXIF': jpegWith(jpeg, 1, exif),
    'with XMP': jpegWith(jpeg, 1, xmp),
    'with a second picture appended': Buffer.concat([jpeg, await picture('jpeg', 7)]),
    'with a video appended': Buffer.concat([jpeg, await film()]),
  }
  for (const [name, file] of Object.entries(pictures))
    t.match(await inspectBytes(file), { mimeType: 'image/jpeg', alsoIs: undefined }, name)
})

t.test('a picture whose metadata mentions a page is a picture', async t => {
  const text = Buffer.from('prompt\0draw the logo as <svg viewBox="0 0 8 8">, and <html><head><script>')
  const comment = Buffer.concat([Buffer.from([0x21, 0xfe, text.length]), text, Buffer.of(0)])
  const pictures: Record<string, Buffer> = {
    ...Object.fromEntries(
      ['tEXt', 'iTXt', 'zTXt', 'eXIf'].map(type => [`a PNG with ${type}`, pngWith(png, type, text)]),
    ),
    'a PNG with two texts': pngWith(pngWith(png, 'tEXt', text), 'iTXt', text),
    'a PNG with a longer text than a head': pngWith(png, 'tEXt', Buffer.alloc(10_000, text)),
    'a JPEG with EXIF': jpegWith(jpeg, 1, text),
    'a JPEG with IPTC': jpegWith(jpeg, 13, text),
    'a JPEG with a comment': jpegWith(jpeg, 30, text),
    'a GIF with a comment': Buffer.concat([gif.subarray(0, firstBlock(gif)), comment, gif.subarray(firstBlock(gif))]),
    'a WebP with EXIF': webpWith('EXIF', text),
    'a WebP with XMP': webpWith('XMP ', text),
  }
  for (const [name, file] of Object.entries(pictures))
    for (const pieceBytes of [1, file.length])
      t.match(await inPieces(file, pieceBytes), { alsoIs: undefined, isCutOff: false, mimeType: /^image/ }, name)
})

t.test('no input makes the inspection throw', async t => {
  const starts = Object.values(samples).map(file => file.subarray(0, 40))
  const others = [
    'PK\x03\x04',
    '\x1f\x8b\x08',
    'BZh9',
    'II*\0',
    'MM\0*',
    'OggS',
    'ID3',
    '0&\xb2u\x8ef\xcf\x11\xa6\xd9',
    'MThd',
  ]
  const start = fc.constantFrom(Buffer.alloc(0), ...starts, ...others.map(text => Buffer.from(text, 'latin1')))
  await fc.assert(
    fc.asyncProperty(start, fc.uint8Array({ maxLength: 300, size: 'max' }), async (start, rest) => {
      const file = Buffer.concat([start, rest])
      return (await inspectBytes(file)).sizeBytes === file.length
    }),
    { numRuns: 500 },
  )
  t.pass()
})

/** The first block behind the colours of a GIF. */
const firstBlock = (gif: Buffer) => 13 + ((gif[10] ?? 0) & 0x80 ? 3 * 2 ** (((gif[10] ?? 0) & 7) + 1) : 0)

/** A WebP with another chunk before its picture. */
const webpWith = (kind: string, data: Buffer): Buffer => {
  const webp = samples['image/webp'] as Buffer
  const even = Buffer.concat([data, Buffer.alloc(data.length % 2)])
  const head = Buffer.from(`${kind}....`)
  head.writeUInt32LE(data.length, 4)
  const file = Buffer.concat([webp.subarray(0, 12), head, even, webp.subarray(12)])
  file.writeUInt32LE(file.length - 8, 4)
  return file
}

function* breaking(file: Buffer) {
  yield file
  throw new Error('the connection broke')
}
