import { Subscription } from 'rxjs'
import type { Position, RawEvent, Recorded } from '../../../schemas/recorded.ts'
import type { Codec } from '../../engine/log/codec.ts'
import { follow } from '../../engine/log/follow.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Sealer } from '../../services/seals/sealer.ts'
import { Outage } from '../../time/outage.ts'
import { delay } from '../../time/timers.ts'

/** After a page of so few events, more are waited for: a read costs as much as many events, and seals can wait. */
const SMALL_PAGE = 100
const PAUSE_MS = 100

interface Dependencies {
  log: EventLog
  sealer: Sealer
  clock: Clock
  logger: Logger
}

/** Follows the log and seals it when that is due. */
export class SealsReactor {
  readonly #dependencies: Dependencies
  readonly #subscription = new Subscription()
  #sealing: Promise<void> | undefined
  readonly #outage: Outage

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#outage = new Outage(dependencies.logger, 'the log could not be sealed; retrying', 'the log is sealed again')
  }

  start() {
    const { log, sealer, clock } = this.#dependencies
    const followed = follow(log, asWritten, clock, {
      from: () => this.#restart(),
      take: async events => {
        sealer.take(events)
        await this.#seal()
        if (events.length < SMALL_PAGE) await delay(clock, PAUSE_MS)
      },
      confirm: () => this.#seal(),
      onDrop: error => this.#onDrop(error),
    })
    this.#subscription.add(followed.subscribe())
  }

  async stop(): Promise<void> {
    this.#subscription.unsubscribe()
    await this.#sealing?.catch(() => undefined)
  }

  /** A seal in the making counts on the events that were read for it, so it comes to its end first. */
  async #restart(): Promise<Position> {
    await this.#sealing?.catch(() => undefined)
    return this.#dependencies.sealer.restart()
  }

  /** One at a time: pages arrive while the age is checked. */
  #seal(): Promise<void> {
    this.#sealing ??= this.#dependencies.sealer
      .sealWhatIsDue()
      .then(() => this.#outage.passed())
      .finally(() => {
        this.#sealing = undefined
      })
    return this.#sealing
  }

  #onDrop(error: unknown): 'later' {
    this.#outage.failed(error)
    return 'later'
  }
}

/** Seals cover events as they were written, so they are not brought into their present shape. */
const asWritten: Codec<RawEvent> = { checkNew: () => undefined, decode: raw => raw as Recorded<RawEvent> }
