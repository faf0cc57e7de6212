import { crc32 } from 'node:zlib'
import { join } from './join.ts'
import type { Made } from './work.ts'

/**
 * Marks a file as made by a program without a trained model, with IPTC's digital source type in XMP. Ogg files cannot
 * hold XMP, so they are not changed. https://cv.iptc.org/newscodes/digitalsourcetype/
 */
export const withOrigin = ({ mimeType, bytes }: Made): Made => {
  const mark = marks[mimeType]
  return { mimeType, bytes: mark ? mark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) : bytes }
}

/** Where each format keeps XMP: https://developer.adobe.com/xmp/docs/xmp-specifications/, part 3. */
const marks: Record<string, (file: Buffer) => Uint8Array> = {
  'image/png': file => {
    const chunk = sized32(Buffer.concat([latin1('iTXtXML:com.adobe.xmp\0\0\0\0\0'), XMP]), -4)
    return join(
      file.subarray(0, PNG_HEADER_BYTES),
      chunk,
      uint32(crc32(chunk.subarray(4))),
      file.subarray(PNG_HEADER_BYTES),
    )
  },
  'image/jpeg': file => {
    const segment = Buffer.concat([latin1('\xff\xe1..http://ns.adobe.com/xap/1.0/\0'), XMP])
    segment.writeUInt16BE(segment.length - 2, 2)
    return join(file.subarray(0, 2), segment, file.subarray(2))
  },
  'image/webp': file => riff(join(extendedWebp(file), riffChunk('XMP ', XMP))),
  'video/mp4': file =>
    join(
      file,
      sized32(Buffer.concat([latin1('uuid'), Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex'), XMP]), 4),
    ),
  'audio/wav': file => riff(join(file, riffChunk('_PMX', XMP))),
  'audio/mpeg': file => {
    const frame = Buffer.concat([latin1('PRIV'), uint32(XMP.length + 4), latin1('\0\0XMP\0'), XMP])
    return join(latin1('ID3\x03\0\0'), syncSafe(frame.length), frame, file)
  },
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')

const XMP = Buffer.from(
  [
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    '<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"',
    ' Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/algorithmicMedia"/>',
    '</rdf:RDF></x:xmpmeta><?xpacket end="r"?>',
  ].join(''),
)

/** The signature and the chunk IHDR. */
const PNG_HEADER_BYTES = 33

const WEBP_HAS_XMP = 0x04

/** Puts a length before a part: its own, plus a difference. */
const sized32 = (part: Buffer, difference: number) => Buffer.concat([uint32(part.length + difference), part])

/** Chunks have even lengths. */
const riffChunk = (type: string, data: Buffer) => {
  const head = Buffer.from(`${type}....`)
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}

/** Sets the length that the file states. */
const riff = (file: Uint8Array<ArrayBuffer>) => {
  new DataView(file.buffer).setUint32(4, file.byteLength - 8, true)
  return file
}

/** A WebP file with the header that further chunks need: RFC 9649, section 2.7. */
const extendedWebp = (file: Buffer): Uint8Array<ArrayBuffer> => {
  const type = file.toString('latin1', 12, 16)
  if (type === 'VP8X') {
    const extended = join(file)
    extended[20] = (extended[20] ?? 0) | WEBP_HAS_XMP
    return extended
  }
  if (type !== 'VP8 ') throw new Error(`the encoder made a WebP file of type ${type}`)
  const header = Buffer.alloc(10)
  header[0] = WEBP_HAS_XMP
  // A lossy frame begins with ten bytes, of which the last four hold width and height.
  header.writeUIntLE((file.readUInt16LE(26) & 0x3fff) - 1, 4, 3)
  header.writeUIntLE((file.readUInt16LE(28) & 0x3fff) - 1, 7, 3)
  return join(file.subarray(0, 12), riffChunk('VP8X', header), file.subarray(12))
}

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Seven bits a byte, so that no length looks like the beginning of sound: https://id3.org/id3v2.3.0 */
const syncSafe = (value: number) => Buffer.from([21, 14, 7, 0].map(shift => (value >> shift) & 0x7f))
