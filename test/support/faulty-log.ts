import type { Appended, EventLog } from '../../src/ports/event-log.ts'
import { Unavailable } from '../../src/ports/faults.ts'

/** What becomes of an append: it gets the real one, and may leave it out. */
export type Fate = (append: () => Promise<Appended>) => Promise<Appended>

export const answerLost: Fate = async append => {
  await append()
  throw new Error('the connection broke after the append')
}

export const notWritten: Fate = async () => {
  throw new Error('the connection broke before the append')
}

export const unavailable: Fate = async () => {
  throw new Unavailable('the disk is full')
}

/** A log whose next appends meet these fates, one after the other, and which works from then on. */
export const faultyLog = (log: EventLog, ...fates: Fate[]): EventLog => ({
  ...log,
  append: (...append) => {
    const fate = fates.shift()
    return fate ? fate(() => log.append(...append)) : log.append(...append)
  },
})

/** A log that keeps count of its appends, as the number of events in each. */
export const countingLog = (log: EventLog): EventLog & { appends: number[] } => {
  const appends: number[] = []
  return {
    ...log,
    appends,
    append: (stream, events, expectedRevision) => {
      appends.push(events.length)
      return log.append(stream, events, expectedRevision)
    },
  }
}
