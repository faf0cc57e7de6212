import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'

// Opens a log in a separate process, because an invalid file could crash it.
try {
  openLmdbEventLog(process.argv[2] as string, () => undefined)
  console.log('opened')
} catch (error) {
  console.log(`${(error as Error).name}: ${(error as Error).message}`)
}
