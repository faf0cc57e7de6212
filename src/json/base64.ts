import { yieldToEventLoop } from './turns.ts'

/** Encoding or decoding it takes less than a millisecond. A multiple of 12, so that slices end where groups end. */
export const SLICE_BYTES = 192 * 1024

const BACKSLASH = 0x5c

/** The longest escape in JSON, such as `\u003d`. */
const MAX_ESCAPE = 6

/** The start of a data: URL, with its type. */
export const DATA_URL = /^data:([^,;]*)[^,]*;base64,/i

/** Encodes bytes without copying them first. */
export const toBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

export const base64Length = ({ byteLength }: Uint8Array): number => Math.ceil(byteLength / 3) * 4

/** Encodes bytes, and lets other work run between slices. */
export async function* encodeInSlices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) {
    await yieldToEventLoop()
    yield Buffer.from(toBase64(bytes.subarray(at, at + SLICE_BYTES)), 'latin1')
  }
}

/** Decodes the contents of a string in a JSON document, including escapes, slice by slice. */
export class Base64Decoder {
  /** The characters of an incomplete group. */
  #rest = ''

  /** The same as `Buffer.from(string, 'base64')`; undefined if the string has any other character. */
  decode(slice: Buffer, isLast: boolean): Buffer | undefined {
    const text = unescaped(slice.toString('latin1'))
    if (text === undefined) return undefined
    const characters = this.#rest + text
    const group = isLast ? characters.replace(/={1,2}$/, '') : characters.slice(0, characters.length & ~3)
    this.#rest = characters.slice(group.length)
    const bytes = Buffer.allocUnsafe(Math.floor(group.length * 0.75))
    return group.length % 4 !== 1 && bytes.write(group, 'base64') === bytes.length ? bytes : undefined
  }
}

/** The end of the first slice, which must not split an escape. */
export const sliceEnd = (source: Buffer): number => {
  if (source.length <= SLICE_BYTES) return source.length
  const backslash = source.subarray(SLICE_BYTES - MAX_ESCAPE, SLICE_BYTES).lastIndexOf(BACKSLASH)
  return backslash === -1 ? SLICE_BYTES : SLICE_BYTES - MAX_ESCAPE + backslash
}

const unescaped = (text: string): string | undefined => {
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return undefined
  }
}
