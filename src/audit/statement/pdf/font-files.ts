import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inflateSync } from 'node:zlib'

/** The package's fonts, each for a part of Unicode. A text uses as many of them as it needs. */
export const SUBSETS = ['latin', 'latin-ext', 'vietnamese', 'greek', 'greek-ext', 'cyrillic', 'cyrillic-ext'] as const

const require = createRequire(import.meta.url)
const files = new Map<string, Buffer>()

/** The file of a font, such as `latin-400`. It is read once. */
export const fontFile = (font: string): Buffer => {
  const file =
    files.get(font) ?? inflated(readFileSync(require.resolve(`@fontsource/inter/files/inter-${font}-normal.woff`)))
  files.set(font, file)
  return file
}

/**
 * A WOFF file as OpenType, which has the same tables without compression. pdfkit inflates a table of a WOFF file anew
 * for each glyph that it reads from it, which takes most of the time of a document. Both headers:
 * https://www.w3.org/TR/WOFF/ and https://learn.microsoft.com/en-us/typography/opentype/spec/otff.
 */
const inflated = (woff: Buffer): Buffer => {
  const count = woff.readUInt16BE(12)
  const header = Buffer.alloc(12 + count * 16)
  woff.copy(header, 0, 4, 8)
  header.writeUInt16BE(count, 4)
  const parts: Buffer[] = [header]
  let offset = header.length
  for (let index = 0; index < count; index++) {
    const [from, to] = [44 + index * 20, 12 + index * 16]
    const start = woff.readUInt32BE(from + 4)
    const stored = woff.subarray(start, start + woff.readUInt32BE(from + 8))
    const size = woff.readUInt32BE(from + 12)
    const padding = Buffer.alloc(-size & 3)
    woff.copy(header, to, from, from + 4)
    woff.copy(header, to + 4, from + 16, from + 20)
    header.writeUInt32BE(offset, to + 8)
    header.writeUInt32BE(size, to + 12)
    parts.push(stored.length < size ? inflateSync(stored) : stored, padding)
    offset += size + padding.length
  }
  return Buffer.concat(parts)
}
