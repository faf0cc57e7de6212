import parseRange from 'range-parser'
import type { ByteRange, ObjectFacts } from '../ports/object-store.ts'
import type { Context } from './context.ts'

/**
 * The one part of an object that a GET asks for (RFC 9110, section 14). Undefined when it is to have the whole: it asks for
 * several parts, in a way that nobody understands, or of another object than is there.
 */
export const byteRangeOf = (
  ctx: Context,
  { sizeBytes, etag }: ObjectFacts,
): ByteRange | 'unsatisfiable' | undefined => {
  const [range, ifRange] = [ctx.get('Range'), ctx.get('If-Range')]
  if (ctx.method !== 'GET' || !/^bytes=/i.test(range) || (ifRange !== '' && ifRange !== etag)) return undefined
  // The parser takes the last bytes of an object that has fewer for an error, and the standard for the whole.
  const last = /^bytes=\s*-0*([1-9]\d*)\s*$/i.exec(range)?.[1]
  if (last !== undefined && Number(last) >= sizeBytes) return undefined
  const ranges = parseRange(sizeBytes, range)
  if (ranges === -1) return 'unsatisfiable'
  if (ranges === -2) return undefined
  const [only, ...others] = ranges
  return others.length === 0 ? only : undefined
}
