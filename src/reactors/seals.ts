import type { Position } from '../../schemas/recorded.ts'
import { checkOrder } from '../engine/log/check-order.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { Sealer } from '../services/seals/sealer.ts'
import { delay } from '../time/delay.ts'

/** Nobody waits for a seal, and events that are read together cost much less than those that are read as they come. */
const POLL_MS = 1000

/** How long to wait after a failure. Events are sealed every few minutes. */
const BACK_OFF_MS = 3000

interface Parts {
  log: Pick<EventLog, 'readAll'>
  sealer: Sealer
  clock: Clock
  logger: Logger
}

/** Reads the log and seals it when that is due. */
export class SealsReactor {
  readonly #parts: Parts
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  /** How far the sealer has read; unknown at first and after a failure. */
  #position: Position | undefined
  #reported = ''

  constructor(parts: Parts) {
    this.#parts = parts
  }

  start() {
    this.#running ??= this.#run()
  }

  /** Resolves when a seal that is being made is recorded or has failed. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run() {
    const { clock } = this.#parts
    const { signal } = this.#stop
    while (!signal.aborted) {
      const waitMs = await this.#read().then(
        () => POLL_MS,
        error => this.#onFailure(error),
      )
      await delay(clock, waitMs, signal)
    }
  }

  async #read() {
    const { log, sealer, clock } = this.#parts
    this.#position ??= await sealer.restart()
    for await (const page of log.readAll(this.#position)) {
      checkOrder(page, this.#position)
      sealer.take(page)
      this.#position = page.at(-1)?.position ?? this.#position
      await sealer.sealWhatIsDue()
      // Other work goes on between two pages.
      await delay(clock, 0)
      if (this.#stop.signal.aborted) return
    }
    await sealer.sealWhatIsDue()
  }

  /** The same failure is reported once, since the attempts go on. */
  #onFailure(error: unknown): number {
    this.#position = undefined
    const text = String(error)
    if (text !== this.#reported) this.#parts.logger.error({ err: error }, 'the log could not be sealed; trying again')
    this.#reported = text
    return BACK_OFF_MS
  }
}
