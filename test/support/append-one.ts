import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { NO_STREAM } from '../../src/ports/event-log.ts'

// A separate process that appends one event, and says what it learned.
const log = openLmdbEventLog(process.argv[2] as string, () => console.log('ends'))
const event = { id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }
await log.append('another', [event], NO_STREAM).then(
  () => console.log('confirmed'),
  () => console.log('rejected'),
)
process.exit(0)
