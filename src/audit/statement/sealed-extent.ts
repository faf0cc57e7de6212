import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { sealName } from '../../services/seals/seals.ts'
import type { NewestSeal } from '../verify/seals.ts'

/**
 * Counts the events of a log as its seals do, which is exact in every copy of the log; positions differ in copies. What
 * the seals say is not checked here.
 */
export class SealedExtent {
  #events = 0
  #newest: NewestSeal | undefined

  /** How many events were taken, without those of the stream of seals. */
  get events(): number {
    return this.#events
  }

  get newest(): NewestSeal | undefined {
    return this.#newest
  }

  /** The events that no seal covers. */
  get unsealed(): number {
    return this.#events - (this.#newest?.events ?? 0)
  }

  /** Takes the next event of the log. Throws Damaged for a seal that cannot be read, or covers what is not there. */
  take(raw: RawEvent) {
    if (raw.stream !== SEALS_STREAM) {
      this.#events += 1
      return
    }
    if (raw.type !== 'LogSealed') return
    const { data, metadata } = eventCodec.decode(raw)
    const { number, events, at } = data as LogSealed
    if (events > this.#events)
      throw new Damaged(`seal ${number} covers ${events} events, and the log holds ${this.#events} before it`)
    this.#newest = { number, name: sealName(data as LogSealed), link: metadata.hash, events, at }
  }
}
