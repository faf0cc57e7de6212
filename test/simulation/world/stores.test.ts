import { eventLogContract } from '../../contract/event-log.ts'
import { viewStoreContract } from '../../contract/view-store.ts'
import { SimulatedLog } from './event-log.ts'
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
