import { limit } from './picture-size.ts'

/**
 * Keeps only the chunks of a PNG file that affect its appearance, because the decoder needs a minute for an unknown
 * chunk of 20 MB. Bytes after the last chunk are not part of the picture. Throws if the chunks are broken, or too many.
 */
export function withoutExtras(file: Buffer): Buffer {
  const kept = [file.subarray(0, SIGNATURE_LENGTH)]
  const kinds = new Set<string>()
  let count = 0
  for (let at = SIGNATURE_LENGTH; at < file.length && !kinds.has('IEND'); ) {
    limit('chunks', ++count, MAX_CHUNKS)
    const length = file.readUInt32BE(at)
    const kind = file.toString('latin1', at + 4, at + 8)
    const end = at + FRAME_LENGTH + length
    if (end > file.length) throw new Error('A chunk is truncated.')
    if (kinds.size === 0 && kind !== 'IHDR') throw new Error('The first chunk is not the header.')
    if (isKept(kind, length, kinds)) kept.push(file.subarray(at, end))
    kinds.add(kind)
    at = end
  }
  return Buffer.concat(kept)
}

/** Only pixel chunks may repeat, so that many small chunks do not add up to a large one. */
const isKept = (kind: string, length: number, before: ReadonlySet<string>) =>
  kind === 'IDAT' || (visible.has(kind) && length <= MAX_CHUNK_BYTES && !before.has(kind))

const visible: ReadonlySet<string> = new Set(
  ['IHDR', 'PLTE', 'tRNS', 'IEND'].concat(['gAMA', 'cHRM', 'sRGB', 'iCCP', 'cICP', 'sBIT', 'eXIf']),
)

const SIGNATURE_LENGTH = 8

/** A chunk's length, kind and checksum. */
const FRAME_LENGTH = 12

/** Far larger than usual colour profiles, and small enough for the decoder. */
const MAX_CHUNK_BYTES = 2 ** 20

// Encoders write chunks of several kilobytes. With this number, a picture of 50 MB may have chunks of 500 bytes.
const MAX_CHUNKS = 100_000
