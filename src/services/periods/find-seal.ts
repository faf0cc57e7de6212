import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { ClosingSeal } from '../../../schemas/period-events.ts'
import type { Position } from '../../../schemas/recorded.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { eventCodec } from '../event-codec.ts'
import { sealName } from '../seals/seal-name.ts'

/** A seal, with its name and the time at which it was made. */
export interface FoundSeal extends ClosingSeal {
  name: string
  at: string
}

interface Sought {
  /** The seal covers the event at this position. */
  after: Position
  notBeforeMs: number
}

/** The first seal that covers an event and was made late enough, or else the last that covers it. */
export const findSeal = async (
  log: Pick<EventLog, 'readAll'>,
  { after, notBeforeMs }: Sought,
): Promise<FoundSeal | undefined> => {
  let early: FoundSeal | undefined
  // A seal from before the event may name a position of another store, from which the log was copied.
  for await (const page of log.readAll(after))
    for (const raw of page) {
      if (raw.stream !== SEALS_STREAM || raw.type !== 'LogSealed') continue
      const event = eventCodec.decode(raw)
      if (event.type !== 'LogSealed') continue
      const { number, events, position, at } = event.data
      if (position < after) continue
      const seal = { number, name: sealName(event.data), link: event.metadata.hash, events, at }
      if (Date.parse(at) >= notBeforeMs) return seal
      early = seal
    }
  return early
}
