import { yieldToEventLoop } from './form.ts'

/** Encoding or decoding it takes less than a millisecond. A multiple of 12, so that slices end where groups end. */
const SLICE_BYTES = 192 * 1024

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

/**
 * Decodes the contents of a string in a JSON document, including escapes, and lets other work run between slices.
 * Resolves to the result of `Buffer.from(string, 'base64')`, or to undefined if the string has any other character.
 */
export const decodeInSlices = async (source: Buffer): Promise<Uint8Array | undefined> => {
  const bytes = Buffer.allocUnsafe(Math.ceil(source.length / 4) * 3)
  let sizeBytes = 0
  let rest = ''
  for (let at = 0; at < source.length; ) {
    await yieldToEventLoop()
    const end = sliceEnd(source, at)
    const text = unescaped(source.toString('latin1', at, end))
    if (text === undefined) return undefined
    const characters = rest + text
    const isLast = end === source.length
    const group = isLast ? characters.replace(/={1,2}$/, '') : characters.slice(0, characters.length & ~3)
    if (group.length % 4 === 1 || bytes.write(group, sizeBytes, 'base64') !== Math.floor(group.length * 0.75))
      return undefined
    sizeBytes += Math.floor(group.length * 0.75)
    rest = characters.slice(group.length)
    at = end
  }
  return bytes.subarray(0, sizeBytes)
}

/** The end of a slice, which must not split an escape. */
const sliceEnd = (source: Buffer, at: number): number => {
  const end = at + SLICE_BYTES
  if (end >= source.length) return source.length
  const backslash = source.subarray(end - MAX_ESCAPE, end).lastIndexOf(BACKSLASH)
  return backslash === -1 ? end : end - MAX_ESCAPE + backslash
}

const unescaped = (text: string): string | undefined => {
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return undefined
  }
}
