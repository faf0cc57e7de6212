import parseRange from 'range-parser'
import type { ByteRange, ObjectFacts } from '../../ports/object-store.ts'
import type { Context } from '../context.ts'

/**
 * The byte range that a GET requests (RFC 9110, section 14). Undefined if it gets the whole object: without a range,
 * with several or unreadable ranges, or if the object has changed since.
 */
export const byteRangeOf = (
  ctx: Context,
  { sizeBytes, etag }: ObjectFacts,
): ByteRange | 'unsatisfiable' | undefined => {
  const [range, ifRange] = [ctx.get('Range'), ctx.get('If-Range')]
  if (ctx.method !== 'GET' || !/^bytes=/i.test(range) || (ifRange !== '' && ifRange !== etag)) return undefined
  // For a suffix longer than the object the standard returns the whole object; the parser reports an error.
  const last = /^bytes=\s*-0*([1-9]\d*)\s*$/i.exec(range)?.[1]
  if (last !== undefined && Number(last) >= sizeBytes) return undefined
  const ranges = parseRange(sizeBytes, range)
  if (ranges === -1) return 'unsatisfiable'
  if (ranges === -2) return undefined
  const [only, ...others] = ranges
  return others.length === 0 ? only : undefined
}
