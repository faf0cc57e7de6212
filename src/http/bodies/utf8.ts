import { ApiError } from '../../transports/api-error.ts'
import type { Context } from '../context.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Bytes as text, without a byte order mark; undefined if they are not UTF-8. Node.js would replace faulty bytes. */
export const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The text of a body that was read as bytes; undefined if it is not UTF-8. */
export const bodyText = ({ request }: Context): string | undefined => decodeUtf8(request.body as unknown as Uint8Array)

/** Throws ApiError for a request whose header names another encoding than UTF-8. */
export const checkCharset = (ctx: Context) => {
  const { charset } = ctx.request
  if (!isUtf8(charset)) throw notUtf8(charset)
}

/** Whether the charset of a Content-Type is UTF-8, which is the default. */
export const isUtf8 = (charset: string): boolean => /^(utf-?8)?$/i.test(charset)

export const notUtf8 = (charset: string) =>
  new ApiError('unsupported_media_type', `The body must be in UTF-8, not in ${charset}.`)

/** Whether the percent-encoded characters of a URL or a form are UTF-8. */
export const isUtf8Encoded = (text: string): boolean =>
  (text.match(/(?:%[0-9a-f]{2})+/gi) ?? []).every(
    encoded => decodeUtf8(Buffer.from(encoded.replaceAll('%', ''), 'hex')) !== undefined,
  )
