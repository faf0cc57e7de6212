import { Unavailable } from '../../../ports/faults.ts'

/** Limits of queued and running appends. Beyond them, the server is not keeping up. */
const MAX_WAITING = 10_000
const MAX_WAITING_BYTES = 64 * 1024 * 1024

/**
 * Runs the appends to a stream one after another, so that a failed append leaves no gap before the next one. Appends to
 * different streams do not wait for each other.
 */
export class AppendQueue<Answer> {
  readonly #waiting = new Set<Promise<Answer>>()
  readonly #lastOf = new Map<string, Promise<Answer>>()
  #bytes = 0

  /** Rejects with Unavailable when the queue is full. */
  add(stream: string, bytes: number, append: () => Promise<Answer>): Promise<Answer> {
    if (this.#waiting.size >= MAX_WAITING || this.#bytes + bytes > MAX_WAITING_BYTES)
      return Promise.reject(new Unavailable('too many appends are waiting for the event log', { part: 'log' }))
    const before = this.#lastOf.get(stream)
    const appended = before ? before.then(append, append) : append()
    this.#lastOf.set(stream, appended)
    this.#waiting.add(appended)
    this.#bytes += bytes
    const forget = () => {
      this.#waiting.delete(appended)
      this.#bytes -= bytes
      if (this.#lastOf.get(stream) === appended) this.#lastOf.delete(stream)
    }
    appended.then(forget, forget)
    return appended
  }

  /** Resolves when all currently queued and running appends have succeeded or failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#waiting)
  }
}
