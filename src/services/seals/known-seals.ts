import type { LogSealed } from '../../../schemas/seal-events.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { Outage } from '../../time/outage.ts'
import { every } from '../../time/timers.ts'
import type { SealStream } from './seal-stream.ts'
import { sealName } from './seals.ts'

/** The maximum age of the newest seal in responses. The log is sealed every few minutes. */
const REFRESH_MS = 5000

interface Dependencies {
  seals: SealStream
  clock: Clock
  logger: Pick<Logger, 'error' | 'info'>
}

/** Keeps the newest seal in memory, so that no response waits for the log. */
export class KnownSeals {
  readonly #dependencies: Dependencies
  /** The digest is computed once for each seal. */
  #named: { seal: LogSealed; name: string } | undefined
  #stop: (() => void) | undefined
  readonly #outage: Outage

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#outage = new Outage(
      dependencies.logger,
      'the seals could not be read; retrying',
      'the seals can be read again',
    )
  }

  /** The name of the newest seal that this process knows; undefined before the first seal. */
  get newest(): string | undefined {
    const { seal } = this.#dependencies.seals.known ?? {}
    if (seal !== this.#named?.seal) this.#named = seal && { seal, name: sealName(seal) }
    return this.#named?.name
  }

  start() {
    this.#refresh()
    this.#stop = every(this.#dependencies.clock, REFRESH_MS, () => this.#refresh())
  }

  stop() {
    this.#stop?.()
  }

  #refresh() {
    this.#dependencies.seals.recentState().then(
      () => this.#outage.passed(),
      error => this.#outage.failed(error),
    )
  }
}
