import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { sealName } from '../../services/seals/seals.ts'
import type { Closing } from '../closings.ts'
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

/** Looks for the seals with which months were closed. */
export class ClosingSeals {
  readonly #missing: Set<Closing>

  constructor(closings: readonly Closing[]) {
    this.#missing = new Set(closings)
  }

  /** Takes the next seal of the log. Throws Damaged if a closing names another one by its number. */
  take({ number, link, events }: NewestSeal) {
    for (const closing of this.#missing) {
      const { seal, month } = closing
      if (seal.number !== number) continue
      if (seal.link !== link || seal.events !== events)
        throw new Damaged(`seal ${number} is not the one with which ${month} was closed`)
      this.#missing.delete(closing)
    }
  }

  /** Describes the first closing up to a month whose seal was not found. */
  fault(upTo: string | undefined): string | undefined {
    const missing = [...this.#missing].find(({ month }) => upTo === undefined || month <= upTo)
    return missing && `the log does not hold seal ${missing.seal.number}, with which ${missing.month} was closed`
  }
}
