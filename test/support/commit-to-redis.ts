import { openRedisViewStore } from '../../src/adapters/view-store/redis.ts'
import { redisAt } from './store-addresses.ts'

// A separate process, because Node.js reads trusted certificates only at start.
const store = await openRedisViewStore({ address: redisAt(process.argv[2] as string), onWarning: console.error })
await store.commit({
  from: undefined,
  to: { position: 1, eventId: 'a', origin: 'event-0', versions: { accounts: 'accounts 1' } },
  rows: [],
  entries: [],
})
console.log('committed')
await store.close()
