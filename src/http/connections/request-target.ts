import { ApiError } from '../../transports/api-error.ts'

/** A path with its query, in visible ASCII characters. It has no fragment, so it has no `#`. */
const PATH = String.raw`\/[!"$-~]*`

/** Scheme and authority of an absolute URL. The service ignores both: it serves one site. */
const ORIGIN = String.raw`https?:\/\/(?:\[[\da-f:.]+\]|[\w.~%-]+)(?::\d*)?`

const TARGET = new RegExp(`^(?:${ORIGIN})?(?<path>${PATH})?$`, 'i')

/**
 * The path and query of a request's target, which clients of a proxy send as an absolute URL (RFC 9112, section 3.2).
 * Koa would read such a URL with `url.parse`, whose results depend on the version of Node.js.
 * Throws an ApiError if the target is malformed.
 */
export const originForm = (target: string): string => {
  const found = target === '' ? null : TARGET.exec(target)
  if (!found) throw new ApiError('invalid_request', 'The URL of the request is malformed.')
  return found.groups?.['path'] ?? '/'
}
