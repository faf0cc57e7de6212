import { isHttp } from '../domain/http-url.ts'
import type { Caller } from './caller.ts'

/**
 * A value as a caller may see it. The query of an address is often a secret, such as a signature that gives access to a
 * file, so `read` keys see no address with its query or fragment.
 */
export const seenBy = <Value>(caller: Caller, value: Value): Value =>
  caller.kind === 'key' && caller.scope === 'read' ? (withoutQueries(value) as Value) : value

const withoutQueries = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutQuery(value)
  if (Array.isArray(value)) return value.map(withoutQueries)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutQueries(each)]))
}

/** An address that is the whole text may hold blanks, unlike one within a text. */
const withoutQuery = (text: string): string =>
  isHttp(text) && URL.canParse(text) ? upToQuery(text) : text.replace(/\S+/g, upToQuery)

const upToQuery = (text: string): string => {
  const start = text.search(/https?:/i)
  const length = start < 0 ? -1 : text.slice(start).search(/[?#]/)
  return length < 0 ? text : text.slice(0, start + length)
}
