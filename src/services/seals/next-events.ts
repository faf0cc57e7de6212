import type { RawEvent } from '../../../schemas/recorded.ts'
import { Unavailable } from '../../ports/faults.ts'

/**
 * The events of a page from a revision on. A read that was interrupted may repeat events, which are left out. Throws
 * Unavailable if it lacks one: a proof over what is there would be wrong.
 */
export function* nextEvents(page: readonly RawEvent[], from: number): Generator<RawEvent> {
  let next = from
  for (const event of page) {
    if (event.revision < next) continue
    if (event.revision > next) throw new Unavailable(`the log left out event ${next} of ${event.stream}`)
    yield event
    next += 1
  }
}
