import { parseEventStoreUrl } from '../../src/adapters/event-log/eventstoredb/url.ts'
import { parseRedisUrl } from '../../src/adapters/view-store/redis-url.ts'

const expectAddress = <Address extends object>(parsed: Address | string): Address => {
  if (typeof parsed === 'string') throw new TypeError(parsed)
  return parsed
}

/** Parses valid addresses of servers. */
export const eventStoreAt = (url: string) => expectAddress(parseEventStoreUrl(url))
export const redisAt = (url: string) => expectAddress(parseRedisUrl(url))
