import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import type { SealPlace, SealSink } from '../../ports/seal-sink.ts'
import { batchesOf } from '../../services/seals/batches.ts'
import { nextEvents } from '../../services/seals/seal-history.ts'
import { copyOf } from '../../services/seals/seals.ts'
import { delay, withinTime } from '../../time/timers.ts'

/** How often the log is asked for new seals, which it gets every few minutes. */
const POLL_MS = 2000

/** The waits between attempts after a failure, which double from the first to the longest. */
const FIRST_BACK_OFF_MS = 1000
const MAX_BACK_OFF_MS = 60_000

/** Seals that are appended at a time: their text is well below a megabyte, and none of them waits long. */
const MAX_BATCH = 100

/** How long a stop waits for a seal that is being delivered. It is delivered again if that was too short. */
const STOP_MS = 1000

/** Consecutive failures before the operator gets an alert. A sink that restarts is back by then. */
const TOLD_AFTER = 5

/** Called after every attempt: with success, or with the fact that the sink keeps failing. */
export interface SinkWatcher {
  works(sink: string): void
  fails(sink: string): void
}

interface Dependencies {
  log: Pick<EventLog, 'readStream' | 'readEvent'>
  sink: SealSink
  watcher?: SinkWatcher | undefined
  clock: Clock
  logger: Logger
}

/** Copies each seal of the log to a sink, in order and at least once. It holds up neither requests nor seals. */
export class SealSinkReactor {
  readonly #dependencies: Dependencies
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  /** The last seal that the sink has; unknown at first and after a failure. */
  #last: { place: SealPlace | undefined } | undefined
  #failures = 0
  #reported = ''

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  start() {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    const { sink, clock } = this.#dependencies
    this.#stop.abort()
    if (this.#running) await withinTime(clock, this.#running, STOP_MS, () => undefined)
    await sink.close()
  }

  async #run() {
    const { clock } = this.#dependencies
    const { signal } = this.#stop
    while (!signal.aborted) {
      const waitMs = await this.#deliver().then(
        () => this.#onSuccess(),
        error => this.#onFailure(error),
      )
      await delay(clock, waitMs, signal)
    }
  }

  async #deliver() {
    const { log, sink } = this.#dependencies
    this.#last ??= { place: await this.#find() }
    let next = (this.#last.place?.number ?? -1) + 1
    for await (const page of log.readStream(SEALS_STREAM, next)) {
      const events = [...nextEvents(page, next)]
      next += events.length
      for (const batch of batchesOf(
        events.flatMap(raw => copyOf(raw) ?? []),
        MAX_BATCH,
      )) {
        if (this.#stop.signal.aborted) return
        await sink.append(batch, this.#last.place)
        this.#last = { place: batch.at(-1) }
      }
    }
  }

  /** Rejects with Damaged if the log lacks a seal that the sink has. Copies of the seals exist to show this. */
  async #find(): Promise<SealPlace | undefined> {
    const { log, sink } = this.#dependencies
    const last = await sink.last()
    if (!last) return undefined
    const held = await log.readEvent(SEALS_STREAM, last.number)
    if (held && linkOf(held) === last.link) return last
    throw new Damaged(
      `${sink.name} has a seal ${last.number} that the log does not hold: the log was changed or replaced`,
    )
  }

  #onSuccess(): number {
    const { sink, logger, watcher } = this.#dependencies
    watcher?.works(sink.name)
    if (this.#reported) logger.info({ sink: sink.name }, 'seals are copied again')
    this.#failures = 0
    this.#reported = ''
    return POLL_MS
  }

  /** Reports each failure once, although every further attempt may fail alike. */
  #onFailure(error: unknown): number {
    const { sink, logger, watcher } = this.#dependencies
    this.#last = undefined
    if (this.#stop.signal.aborted) return 0
    const text = String(error)
    // A seal that the sink has and the log does not hold is no outage: an operator must look.
    const level = error instanceof Damaged ? 'error' : 'warn'
    if (text !== this.#reported)
      logger[level]({ err: error, sink: sink.name }, 'seals could not be copied; trying again')
    this.#reported = text
    this.#failures += 1
    if (error instanceof Damaged || this.#failures >= TOLD_AFTER) watcher?.fails(sink.name)
    return Math.min(FIRST_BACK_OFF_MS * 2 ** (this.#failures - 1), MAX_BACK_OFF_MS)
  }
}

const linkOf = ({ metadata }: RawEvent): unknown => (metadata as { hash?: unknown } | null)?.hash
