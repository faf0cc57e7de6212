import { setTimeout as delay } from 'node:timers/promises'
import { Progress } from './progress.ts'

/** How often a process without a projector looks how far the views are: while nobody waits for them, and while somebody does. */
const LOOK_EVERY_MS = 100
const HURRY_EVERY_MS = 5

/** How often it looks while the views do not answer. */
const LOOK_AGAIN_MS = 1_000

/** Watches the views that the projectors of other processes keep. */
export class ViewFollower extends Progress {
  #looking: Promise<void> | undefined
  #stop = new AbortController()
  #hurried = new AbortController()

  async start(): Promise<void> {
    const head = await this.log.head()
    this.#looking = this.#look()
    await this.whenPassed(head)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#looking
  }

  protected hurry() {
    this.#hurried.abort()
  }

  async #look() {
    while (!this.#stop.signal.aborted) {
      const position = await this.#lookOnce()
      if (position !== undefined && position !== this.position) this.advance(position, 'unknown')
      this.#hurried = new AbortController()
      const pauseMs = position === undefined ? LOOK_AGAIN_MS : this.isAwaited ? HURRY_EVERY_MS : LOOK_EVERY_MS
      const signal = AbortSignal.any([this.#stop.signal, this.#hurried.signal])
      await delay(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Undefined when the views do not answer. */
  async #lookOnce() {
    try {
      return await this.reached()
    } catch (error) {
      this.logger.warn({ err: error }, 'the views do not say how far they are')
      return undefined
    }
  }
}
