import type { RawEvent } from '../../schemas/recorded.ts'

/** Events of a service as its log holds them: who has no keys reads nothing else. */
export const asStored = (events: readonly RawEvent[]): RawEvent[] =>
  events.map(({ stored, ...event }) => (stored ? { ...event, data: stored } : event))
