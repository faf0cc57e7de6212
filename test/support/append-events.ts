import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { type NewEvent, NO_STREAM, RevisionConflict } from '../../src/ports/event-log.ts'

// A separate process that appends a number of events to a shared stream, and as many to its own stream.
const [folder, name, count] = process.argv.slice(2) as [string, string, string]
const log = openLmdbEventLog(folder, error => {
  throw error
})

const newEvent = (number: number): NewEvent => ({
  id: `${name}-${crypto.randomUUID()}`,
  type: 'SomethingHappened',
  data: { by: name, number },
  metadata: {},
})

/** Appends after the other process's events, and retries conflicts. */
const appendShared = async (number: number) => {
  const event = newEvent(number)
  while (true) {
    let revision = NO_STREAM
    for await (const page of log.readStream('shared', 0)) revision = page.at(-1)?.revision ?? revision
    try {
      return await log.append('shared', [event], revision)
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error
    }
  }
}

for (let number = 0; number < Number(count); number++) {
  const own = Array.from({ length: 20 }, (_, index) => newEvent(20 * number + index))
  await Promise.all([appendShared(number), log.append(`own-${name}`, own, 20 * number - 1)])
}
await log.close()
