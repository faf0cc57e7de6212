import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'

// Opens a log in a separate process, because an invalid file could crash it. Given a number, opens and closes it so often.
const [folder = '', times] = process.argv.slice(2)
try {
  if (times === undefined) openLmdbEventLog(folder, () => undefined)
  for (let count = 0; count < Number(times); count++) await openLmdbEventLog(folder, () => undefined).close()
  console.log('opened')
} catch (error) {
  console.log(`${(error as Error).name}: ${(error as Error).message}`)
}
