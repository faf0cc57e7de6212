import { isDeepStrictEqual } from 'node:util'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { isHttp } from '../../domain/http-url.ts'
import type { Caller } from '../caller.ts'

/**
 * A value as the caller may see it. The query of an address is often a secret, such as a signature that gives access to
 * a file, so `read` keys see addresses without query and fragment.
 */
export const seenBy = <Value>(caller: Caller, value: Value): Value =>
  isReader(caller) ? (withoutQueries(value) as Value) : value

/**
 * Whether a caller may see a whole event of its account, for example in a proof, where a part of the text would prove
 * nothing. `read` keys see no notice settings either, because their whole URL may be a secret.
 */
export const isSeenWhole = (caller: Caller, { type, data }: RawEvent): boolean => {
  const { input, webhookUrl, url, notices, to } = data as Addresses
  const noticeUrl = type === 'NoticesSet' ? url : (notices ?? to)?.url
  const addresses = { input, webhookUrl, url }
  return !isReader(caller) || (noticeUrl === undefined && isDeepStrictEqual(seenBy(caller, addresses), addresses))
}

/** The fields of events that hold addresses. */
interface Addresses {
  input?: unknown
  webhookUrl?: unknown
  url?: unknown
  notices?: { url?: unknown }
  to?: { url?: unknown }
}

const isReader = (caller: Caller): boolean => caller.kind === 'key' && caller.scope === 'read'

const withoutQueries = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutQuery(value)
  if (Array.isArray(value)) return value.map(withoutQueries)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutQueries(each)]))
}

/** An address that is the whole text may contain spaces, unlike an address within a text. */
const withoutQuery = (text: string): string =>
  isHttp(text) && URL.canParse(text) ? upToQuery(text) : text.replace(/\S+/g, upToQuery)

const upToQuery = (text: string): string => {
  const start = text.search(/https?:/i)
  const length = start < 0 ? -1 : text.slice(start).search(/[?#]/)
  return length < 0 ? text : text.slice(0, start + length)
}
