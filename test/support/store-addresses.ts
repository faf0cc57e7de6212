import { parseEventStoreUrl } from '../../src/adapters/event-log/eventstoredb/url.ts'
import { parseRedisUrl } from '../../src/adapters/view-store/redis-url.ts'

const expectAddress = <Address extends object>(parsed: Address | string): Address => {
  if (typeof parsed === 'string') throw new TypeError(parsed)
  return parsed
}

/** What the addresses of servers say, where they are good ones. */
export const eventStoreAt = (url: string) => expectAddress(parseEventStoreUrl(url))
export const redisAt = (url: string) => expectAddress(parseRedisUrl(url))
