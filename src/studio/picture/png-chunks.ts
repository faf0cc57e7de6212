/**
 * Leaves of a PNG file what decides how it looks. The decoder takes a minute over a chunk of 20 MB that it does not
 * know. Throws when the chunks are broken.
 */
export function withoutExtras(file: Buffer): Buffer {
  const kept = [file.subarray(0, SIGNATURE_LENGTH)]
  const kinds = new Set<string>()
  for (let at = SIGNATURE_LENGTH; at < file.length && !kinds.has('IEND'); ) {
    const length = file.readUInt32BE(at)
    const kind = file.toString('latin1', at + 4, at + 8)
    const end = at + FRAME_LENGTH + length
    if (end > file.length) throw new Error('A chunk is cut off.')
    if (kinds.size === 0 && kind !== 'IHDR') throw new Error('The header does not come first.')
    if (isWanted(kind, length, kinds)) kept.push(file.subarray(at, end))
    kinds.add(kind)
    at = end
  }
  return Buffer.concat(kept)
}

/** All but the pixels come once, so that many small chunks do not make a large one. */
const isWanted = (kind: string, length: number, before: ReadonlySet<string>) =>
  kind === 'IDAT' || (visible.has(kind) && length <= LONGEST && !before.has(kind))

const visible: ReadonlySet<string> = new Set(
  ['IHDR', 'PLTE', 'tRNS', 'IEND'].concat(['gAMA', 'cHRM', 'sRGB', 'iCCP', 'cICP', 'sBIT', 'eXIf']),
)

const SIGNATURE_LENGTH = 8

/** The length, the kind and the checksum of a chunk. */
const FRAME_LENGTH = 12

/** Far more than a colour profile commonly has, and little enough for the decoder. */
const LONGEST = 2 ** 20
