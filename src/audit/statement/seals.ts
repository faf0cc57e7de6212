import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { sealName } from '../../services/seals/seals.ts'
import type { Closing } from '../closings.ts'
import type { NewestSeal } from '../verify/seals.ts'

/**
 * Counts events as seals do. These counts are equal in every copy of the log, but positions are not. Does not verify
 * the seals.
 */
export class SealedExtent {
  #events = 0
  #newest: NewestSeal | undefined

  /** The number of events so far, without the stream of seals. */
  get events(): number {
    return this.#events
  }

  get newest(): NewestSeal | undefined {
    return this.#newest
  }

  /** The number of events that no seal covers. */
  get unsealed(): number {
    return this.#events - (this.#newest?.events ?? 0)
  }

  /**
   * Takes the next event of the log. Throws Damaged for a seal that cannot be read, or that covers more events than
   * there are.
   */
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

/** Looks up the seals of closed months. */
export class ClosingSeals {
  readonly #missing: Set<Closing>

  constructor(closings: readonly Closing[]) {
    this.#missing = new Set(closings)
  }

  /** Takes the next seal of the log. Throws Damaged if a closing names another seal with this number. */
  take({ number, link, events }: NewestSeal) {
    for (const closing of this.#missing) {
      const { seal, month } = closing
      if (seal.number !== number) continue
      if (seal.link !== link || seal.events !== events)
        throw new Damaged(`seal ${number} is not the seal with which ${month} was closed`)
      this.#missing.delete(closing)
    }
  }

  /** The fault of the first closing up to a month whose seal is missing. */
  fault(upTo: string | undefined): string | undefined {
    const missing = [...this.#missing].find(({ month }) => upTo === undefined || month <= upTo)
    return missing && `the log does not hold seal ${missing.seal.number}, with which ${missing.month} was closed`
  }
}
