import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'

// A process of its own that opens a log, since a file that is none could take the process with it.
try {
  openLmdbEventLog(process.argv[2] as string, () => undefined)
  console.log('opened')
} catch (error) {
  console.log(`${(error as Error).name}: ${(error as Error).message}`)
}
