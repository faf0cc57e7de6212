import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { LinkLevels } from '../../domain/seals/link-levels.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import { delay } from '../../time/timers.ts'
import { linkOf } from './proof-parts.ts'

interface Dependencies {
  log: Pick<EventLog, 'readStream'>
  clock: Clock
}

/** The seals that this process has read: the tree over their links, and the newest seal. */
export class SealHistory {
  readonly links = new LinkLevels()
  newest: RawEvent | undefined
  readonly #dependencies: Dependencies
  #reading: Promise<void> | undefined

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Reads new seals. Concurrent calls share one read. */
  catchUp(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read() {
    const { log, clock } = this.#dependencies
    for await (const page of log.readStream(SEALS_STREAM, this.links.size)) {
      for (const event of nextEvents(page, this.links.size)) {
        this.links.add(linkOf(event))
        if (event.type === 'LogSealed') this.newest = event
      }
      // The first read may have many pages. Other requests are served between them.
      await delay(clock, 0)
    }
  }
}

/**
 * The events of a page from a revision on. Skips events that an interrupted read repeats. Throws Unavailable if an
 * event is missing, because a proof over the others would be wrong.
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
