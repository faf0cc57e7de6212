import type { RawEvent } from '../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../../src/ports/event-log.ts'

/** A log that holds these events, which may be damaged in any way. */
export const logOf = (events: RawEvent[]): ReadableLog => ({
  head: async () => Math.max(BEFORE_FIRST, ...events.map(({ position }) => position)),
  async *readAll(after) {
    yield events.filter(({ position }) => position > after)
  },
  async *readStream(stream, fromRevision) {
    yield events.filter(event => event.stream === stream && event.revision >= fromRevision)
  },
  readEvent: async (stream, revision) => events.find(event => event.stream === stream && event.revision === revision),
  close: async () => undefined,
})
