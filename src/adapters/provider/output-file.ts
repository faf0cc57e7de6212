import { commonName, essenceOf, mimeTypeOf } from '../../domain/media-types.ts'
import { DATA_URL } from '../../json/base64.ts'
import type { Media } from '../../ports/provider.ts'
import type { LargeFiles } from './large-files.ts'

/** A generic type, which providers use if they know none. */
const UNKNOWN_TYPE = 'application/octet-stream'

/** The place of a file in an answer. */
export const DATA_URL_PLACE = /;base64,$/i

/**
 * The file at an address in a provider's result; undefined for any other text. The type comes from the provider, from
 * the extension of the name, or else is the default.
 */
export const outputFile = (
  address: unknown,
  files: LargeFiles,
  stated?: unknown,
  byDefault = UNKNOWN_TYPE,
): Media | undefined => {
  if (typeof address !== 'string') return undefined
  const data = DATA_URL.exec(address)
  if (data) {
    const contents = files.fromBase64(address)
    if ('bytes' in contents && contents.bytes.length === 0) return undefined
    return { mimeType: mediaType(data[1]) ?? mediaType(stated) ?? byDefault, ...contents }
  }
  if (!isHttp(address)) return undefined
  const byName = mediaType(mimeTypeOf(new URL(address).pathname.toLowerCase()))
  return { mimeType: mediaType(stated) ?? byName ?? byDefault, url: address }
}

/** Whether a text is the address of a file. */
export const isFileAddress = (text: string): boolean => isHttp(text) || DATA_URL.test(text)

const isHttp = (text: string) => /^https?:/i.test(text) && URL.canParse(text)

const mediaType = (contentType: unknown): string | undefined => {
  if (typeof contentType !== 'string') return undefined
  const type = commonName(essenceOf(contentType))
  return /^(image|video|audio)\/[\w.+-]+$/.test(type) ? type : undefined
}
