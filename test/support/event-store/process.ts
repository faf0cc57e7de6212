import { openLmdbEventLog } from '../../../src/adapters/event-log/lmdb.ts'
import { startEventStoreServer } from './server.ts'

// The server as a separate process, over the log in a folder.
const [folder, port = '0'] = process.argv.slice(2) as [string, string?]
const log = openLmdbEventLog(folder, error => {
  throw error
})
const server = await startEventStoreServer({ log, port: Number(port) })
console.log(JSON.stringify({ msg: 'listening', url: server.url }))
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    await server.close()
    await log.close()
  })
