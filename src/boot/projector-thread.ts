import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Position } from '../../schemas/recorded.ts'
import type { Signal } from '../adapters/event-log/signal.ts'
import type { Changes, ViewProgress, ViewState } from '../engine/views/view-progress.ts'
import { BEFORE_FIRST } from '../ports/event-log.ts'
import { Damaged, Unavailable } from '../ports/faults.ts'
import type { Logger } from '../ports/logger.ts'
import type { RowAddress } from '../ports/view-store.ts'
import type { Config } from './config.ts'

/** The settings with which the thread opens the stores. */
export type ProjectorOrder = Pick<
  Config,
  'eventStore' | 'viewStore' | 'objectStore' | 'retention' | 'logLevel' | 'dataDir'
> & {
  masterSecret: string
  rebuildsFirst: boolean
}

/** To the thread: this process has appended up to a position, or a reader waits until the views have passed one. */
export type ProjectorMessage = { appended: Position } | { awaited: Position } | 'stop'

/** From the thread: the views have passed the head of the log at its start, have moved, or hold a forged row. */
export type ProjectorReport = 'started' | { state: ViewState; changes: Changes } | { forged: RowAddress }

interface Dependencies {
  order: ProjectorOrder
  progress: ViewProgress
  /** Emits the last position of each of this process's commits to an embedded log. */
  appended: Signal<Position>
  onForged: (row: RowAddress) => void
  logger: Logger
  /** Replaces the program of the thread in tests. */
  program?: URL | undefined
}

export const projectorProgram = new URL(`./projector-worker${extname(import.meta.url)}`, import.meta.url)

/**
 * The projector in a thread of its own, so that the main thread need not fold events into rows. The main thread copies
 * the progress of that thread. If the thread fails, the process ends: nothing else would update the views.
 */
export class ProjectorThread {
  readonly #dependencies: Dependencies
  #worker: Worker | undefined
  #unsubscribe: () => void = () => undefined
  /** The last position that this process appended, and the last that it announced to the thread. */
  #appended: Position = BEFORE_FIRST
  #announced: Position = BEFORE_FIRST
  /** The highest position of a waiting reader that the thread was sent. */
  #awaited: Position = BEFORE_FIRST

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Resolves when the views have passed the present head of the log. Rejects with Damaged or Unavailable. */
  async start(): Promise<void> {
    const { order, progress, appended, program = projectorProgram } = this.#dependencies
    const worker = new Worker(program, { workerData: order })
    this.#worker = worker
    const unlisten = appended.listen(position => {
      this.#appended = position
      this.#announce()
    })
    const subscription = progress.awaited.subscribe(position => {
      if (position <= this.#awaited) return
      this.#awaited = position
      this.#send({ awaited: position })
    })
    this.#unsubscribe = () => {
      unlisten()
      subscription.unsubscribe()
    }
    let isStarted = false
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (report: ProjectorReport) => {
        if (report === 'started') {
          isStarted = true
          resolve()
        } else if ('forged' in report) this.#dependencies.onForged(report.forged)
        else {
          progress.adopt(report.state, report.changes)
          this.#announce()
        }
      })
      const fail = (error: unknown) => {
        worker.removeAllListeners('exit')
        if (!isStarted) return reject(asFault(error))
        this.#dependencies.logger.fatal({ err: error }, 'the projector failed; stopping the process')
        process.exit(1)
      }
      worker.once('error', fail)
      worker.once('exit', () => fail(new Error("the projector's thread has ended")))
    })
  }

  async stop(): Promise<void> {
    const worker = this.#worker as Worker
    worker.removeAllListeners('exit')
    this.#unsubscribe()
    this.#send('stop')
    await once(worker, 'exit')
  }

  /** One message for each page is enough: the projector's next page includes all appends before it. */
  #announce() {
    const { position } = this.#dependencies.progress
    if (this.#announced > position || this.#appended <= position) return
    this.#announced = this.#appended
    this.#send({ appended: this.#appended })
  }

  #send(message: ProjectorMessage) {
    this.#worker?.postMessage(message)
  }
}

/** Errors lose their class on their way from the thread. */
const asFault = (error: unknown): unknown => {
  const { name, message } = error as Error
  return name === 'Damaged' ? new Damaged(message) : name === 'Unavailable' ? new Unavailable(message) : error
}
