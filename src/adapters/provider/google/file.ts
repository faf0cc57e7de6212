import type { Media } from '../../../ports/provider.ts'
import { UpstreamCall } from '../upstream-call.ts'
import type { VendorParts } from '../vendor.ts'
import { fileUrl } from './client.ts'
import { failures } from './failures.ts'

/** The name of a file in an address such as `https://…/v1beta/files/8xwk4uyz5zyx:download?alt=media`. */
const FILE_NAME = /^https?:\/\/[^/]+\/(?:download\/)?v1\w*\/files\/([\w-]+)(?=[:/?]|$)/

/** A file of a result, in the answer itself or by its address. */
export interface ResultFile {
  data?: unknown
  uri?: unknown
  mimeType: string
}

/** A file could not be loaded. */
export class FileError extends Error {
  override name = 'FileError'
  /** It is no longer there: Google deletes videos after two days. */
  readonly isGone: boolean

  constructor(cause: Error, isGone: boolean) {
    super(cause.message, { cause })
    this.isGone = isGone
  }
}

/** Reads a file, or names its address; undefined if there is neither. Rejects with FileError. */
export const readFile = async (
  parts: VendorParts,
  { data, uri, mimeType }: ResultFile,
  signal: AbortSignal,
): Promise<Media | undefined> => {
  if (typeof data === 'string' && data !== '') return { mimeType, bytes: Buffer.from(data, 'base64') }
  if (typeof uri !== 'string' || !isHttp(uri)) return undefined
  const name = FILE_NAME.exec(uri)?.[1]
  if (name === undefined) return { mimeType, url: uri }
  const found = await download(parts, fileUrl(parts, name), signal)
  if (!(found instanceof URL)) return { mimeType, bytes: found }
  // A redirect within the API still needs the key; one to a store does not.
  if (found.origin !== new URL(fileUrl(parts, name)).origin) return { mimeType, url: found.href }
  const bytes = await download(parts, found.href, signal)
  if (bytes instanceof URL) throw new FileError(new Error('Google redirects a download twice'), false)
  return { mimeType, bytes }
}

/**
 * Files in the store of the API need the key, which must not stand in an address that is recorded. So the bytes are
 * loaded here, and the key goes to no server but the one that the operator configured. Resolves to the target of a
 * redirect if there is one.
 */
const download = async (parts: VendorParts, url: string, signal: AbortSignal): Promise<Uint8Array | URL> => {
  const call = new UpstreamCall(parts.fetch)
  try {
    const headers = { 'x-goog-api-key': parts.key }
    const response = await call.fetch(url, { headers, signal, redirect: 'manual' })
    return new Uint8Array(await response.arrayBuffer())
  } catch (error) {
    const { status = 0, headers } = call.refusal ?? {}
    const location = status >= 300 && status < 400 ? headers?.get('location') : undefined
    if (location && URL.canParse(location, url) && isHttp(new URL(location, url).href)) return new URL(location, url)
    throw new FileError(call.unanswered(error, failures), status === 404 || status === 410)
  }
}

const isHttp = (address: string) => /^https?:/.test(address)
