import { openRedisViewStore } from '../../src/adapters/view-store/redis.ts'
import { redisAt } from './store-addresses.ts'

// A process of its own, since Node.js reads only when it starts which certificates to trust.
const store = await openRedisViewStore({ address: redisAt(process.argv[2] as string), onWarning: console.error })
await store.commit({
  from: undefined,
  to: { position: 1, eventId: 'a', origin: 'event-0', version: 1 },
  rows: [],
  entries: [],
})
console.log('committed')
await store.close()
