import { setTimeout as delay } from 'node:timers/promises'
import type { RawEvent } from '../../schemas/recorded.ts'
import type { AppendResult, EventLog } from '../../src/ports/event-log.ts'
import { Unavailable } from '../../src/ports/faults.ts'

/** The fate of an append: it receives the real append, and may skip it. */
export type Fate = (append: () => Promise<AppendResult>) => Promise<AppendResult>

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

/** Times out without writing. */
export const silentFor =
  (ms: number): Fate =>
  async () => {
    await delay(ms)
    throw new Error(`no answer within ${ms} ms`)
  }

/** A log whose next appends meet these fates in order, and succeed from then on. */
export const faultyLog = (log: EventLog, ...fates: Fate[]): EventLog => ({
  ...log,
  append: (...append) => {
    const fate = fates.shift()
    return fate ? fate(() => log.append(...append)) : log.append(...append)
  },
})

/** The fate of a read: it receives the pages, and may change them. */
export type ReadFate = (pages: AsyncIterable<RawEvent[]>) => AsyncIterable<RawEvent[]>

export const sound: ReadFate = pages => pages

/** Replaces each page. */
export const changed = (change: (page: RawEvent[]) => RawEvent[]): ReadFate =>
  async function* (pages) {
    for await (const page of pages) yield change(page)
  }

export const doubled = changed(page => page.flatMap(event => [event, event]))
export const swapped = changed(page => page.toReversed())
export const withoutFirst = changed(page => page.slice(1))

export const unreadable: ReadFate = async function* () {
  yield* []
  throw new Unavailable('the log cannot be read')
}

/** Times out. */
export const silentReadFor = (ms: number): ReadFate =>
  async function* () {
    yield* []
    await delay(ms)
    throw new Unavailable(`no answer within ${ms} ms`)
  }

/** A log whose next stream reads meet these fates in order, and succeed from then on. `reads` counts all of them. */
export const faultyReads = (log: EventLog, ...fates: ReadFate[]): EventLog & { reads: number } => {
  const faulty = {
    ...log,
    reads: 0,
    readStream: (stream: string, fromRevision: number) => {
      faulty.reads += 1
      return (fates.shift() ?? sound)(log.readStream(stream, fromRevision))
    },
  }
  return faulty
}

/** Records the number of events of each append. */
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
