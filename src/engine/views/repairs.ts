import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { RowAddress } from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import { type OpenScratch, type Rebuild, rebuildViews } from './rebuild.ts'

/** How long the next repair waits, so that persistent forgery costs one replay in this time. */
const PAUSE_MS = 30_000

export interface RepairsDependencies extends Pick<Rebuild, 'log' | 'codec' | 'store' | 'projections'> {
  clock: Clock
  logger: Logger
  openScratch: OpenScratch
}

/** Rebuilds the views after a forged or missing row was found, since it may not be the only one. */
export class Repairs {
  readonly #dependencies: RepairsDependencies
  readonly #stop = new AbortController()
  #isRequested = false
  #isFailing = false
  #onRebuilt: () => void = () => undefined
  #rebuilt: Promise<void> | undefined
  #running: Promise<void> | undefined

  constructor(dependencies: RepairsDependencies) {
    this.#dependencies = dependencies
  }

  /** Reports a row that this service did not write. */
  readonly onForged = (row: RowAddress) => this.#request(row, 'ignoring a row that this service did not write')

  /** Reports a row that the views lack. */
  readonly onMissing = (row: RowAddress) => this.#request(row, 'the views lack a row')

  #request({ view, key }: RowAddress, what: string) {
    if (this.#isRequested || this.#stop.signal.aborted) return
    this.#isRequested = true
    this.#rebuilt = new Promise(resolve => {
      this.#onRebuilt = resolve
    })
    this.#dependencies.logger.warn({ view, key }, `${what}; rebuilding the views`)
    this.#running ??= this.#run()
  }

  /** Resolves once the views are rebuilt; undefined if this was not requested. */
  get rebuilt(): Promise<void> | undefined {
    return this.#isRequested ? this.#rebuilt : undefined
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run() {
    const { clock, logger } = this.#dependencies
    const { signal } = this.#stop
    while (this.#isRequested && !signal.aborted) {
      try {
        const changes = await rebuildViews(this.#dependencies)
        this.#isRequested = false
        this.#onRebuilt()
        this.#isFailing = false
        logger.warn({ cells: changes.length }, 'the views were rebuilt')
      } catch (error) {
        if (!this.#isFailing) logger.error({ err: error }, 'the views could not be rebuilt; retrying')
        this.#isFailing = true
      }
      await delay(clock, PAUSE_MS, signal)
    }
    this.#running = undefined
  }
}
