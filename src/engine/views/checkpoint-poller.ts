import type { Subscription } from 'rxjs'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import { Outage } from '../../time/outage.ts'
import { delay, withinTime } from '../../time/timers.ts'
import type { ViewProgress } from './view-progress.ts'

/** How often a process without a projector reads the checkpoint, and how often while a reader waits for the views. */
const READ_EVERY_MS = 100
const READ_OFTEN_EVERY_MS = 5

/** How often it reads the checkpoint while the views do not respond. */
const RETRY_EVERY_MS = 1_000

interface Dependencies {
  log: EventLog
  progress: ViewProgress
  clock: Clock
  logger: Logger
  /** How long the start waits for the views; without a limit if missing, since a rebuild may take long. */
  maxStartMs?: number | undefined
}

/** Reads how far projectors in other processes have brought the views. */
export class CheckpointPoller {
  readonly #dependencies: Dependencies
  readonly #outage: Outage
  #reading: Promise<void> | undefined
  #awaited: Subscription | undefined
  #stopped = false
  #wake = new AbortController()

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#outage = new Outage(
      dependencies.logger,
      'the checkpoint of the views cannot be read; retrying',
      'the checkpoint of the views can be read again',
    )
  }

  /** Resolves when the views have passed the present head of the log. Rejects with Unavailable after the time limit. */
  async start(): Promise<void> {
    const { log, progress, clock, maxStartMs } = this.#dependencies
    const head = await log.head()
    this.#awaited = progress.awaited.subscribe(() => this.#wake.abort())
    this.#reading = this.#read()
    const passed = progress.whenPassed(head)
    await (maxStartMs === undefined ? passed : withinTime(clock, passed, maxStartMs, tooLate))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake.abort()
    this.#awaited?.unsubscribe()
    await this.#reading
  }

  async #read() {
    const { progress, clock } = this.#dependencies
    while (!this.#stopped) {
      const position = await this.#readOnce()
      if (this.#stopped) return
      if (position !== undefined && position !== progress.position) progress.advance(position, 'unknown')
      this.#wake = new AbortController()
      const pauseMs = position === undefined ? RETRY_EVERY_MS : progress.isAwaited ? READ_OFTEN_EVERY_MS : READ_EVERY_MS
      await delay(clock, pauseMs, this.#wake.signal)
    }
  }

  /** Undefined if the views do not respond. */
  async #readOnce() {
    const { log, progress } = this.#dependencies
    try {
      const position = await progress.reached()
      this.#outage.passed()
      if (position < progress.highest) progress.boundBy(await log.head())
      return position
    } catch (error) {
      this.#outage.failed(error)
      return undefined
    }
  }
}

const tooLate = (): never => {
  throw new Unavailable(
    'the views are behind the log; start a process with the projector role, or add projector to ROLES of this one',
    { part: 'views' },
  )
}
