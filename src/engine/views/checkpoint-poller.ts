import type { Subscription } from 'rxjs'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import { delay } from '../../time/delay.ts'
import type { ViewProgress } from './view-progress.ts'

/** How often a process without a projector reads the checkpoint, and how often while a reader waits for the views. */
const READ_EVERY_MS = 100
const READ_OFTEN_EVERY_MS = 5

/** How often it reads the checkpoint while the views do not respond. */
const RETRY_EVERY_MS = 1_000

interface Parts {
  log: EventLog
  progress: ViewProgress
  clock: Clock
  logger: Logger
}

/** Reads how far projectors in other processes have brought the views. */
export class CheckpointPoller {
  readonly #parts: Parts
  #reading: Promise<void> | undefined
  #awaited: Subscription | undefined
  #stop = new AbortController()
  #wake = new AbortController()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Resolves when the views have passed the present head of the log. */
  async start(): Promise<void> {
    const head = await this.#parts.log.head()
    this.#awaited = this.#parts.progress.awaited.subscribe(() => this.#wake.abort())
    this.#reading = this.#read()
    await this.#parts.progress.whenPassed(head)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#awaited?.unsubscribe()
    await this.#reading
  }

  async #read() {
    const { progress, clock } = this.#parts
    while (!this.#stop.signal.aborted) {
      const position = await this.#readOnce()
      if (position !== undefined && position !== progress.position) progress.advance(position, 'unknown')
      this.#wake = new AbortController()
      const pauseMs = position === undefined ? RETRY_EVERY_MS : progress.isAwaited ? READ_OFTEN_EVERY_MS : READ_EVERY_MS
      const signal = AbortSignal.any([this.#stop.signal, this.#wake.signal])
      await delay(clock, pauseMs, signal)
    }
  }

  /** Undefined if the views do not respond. */
  async #readOnce() {
    try {
      return await this.#parts.progress.reached()
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'the checkpoint of the views cannot be read')
      return undefined
    }
  }
}
