import { eventLogContract } from '../../contract/event-log.ts'
import { objectStoreContract } from '../../contract/object-store.ts'
import { viewStoreContract } from '../../contract/view-store.ts'
import { SimulatedLog } from './event-log.ts'
import { SimulatedBucket, SimulatedObjects } from './object-store.ts'
import { SimulatedViews } from './view-store.ts'

// The simulated stores behave as the real ones do.

eventLogContract('a simulated log', async () => {
  const log = new SimulatedLog()
  return { log, reopen: async () => log }
})

viewStoreContract('simulated views', async () => {
  const store = new SimulatedViews()
  return { store, reopen: async () => store }
})

objectStoreContract('a simulated object store', async () => {
  const bucket = new SimulatedBucket(Date.now)
  const store = new SimulatedObjects(bucket)
  const leftovers = async () => Array.from({ length: store.arriving }, () => 'an incomplete object')
  return { store, leftovers, send: (url, request) => bucket.request(url, request) }
})
