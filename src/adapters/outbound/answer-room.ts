/** The memory of a response that is being read. */
export interface HeldAnswer {
  /** Resolves once there is memory for this many more bytes. Rejects if the signal aborts first. */
  grow(sizeBytes: number, signal: AbortSignal | null): Promise<void>
  /** The response was read or abandoned. */
  close(): void
}

/**
 * Limits the memory of concurrent responses of unknown size. When the memory is used up, only the oldest response grows
 * and the others wait. So all of them end, and at most one exceeds the limit.
 */
export class AnswerRoom {
  readonly #totalBytes: number
  /** The bytes of each response, oldest first. */
  readonly #held = new Map<HeldAnswer, number>()
  readonly #waiting = new Set<() => void>()
  #sumBytes = 0

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
  }

  open(): HeldAnswer {
    const answer: HeldAnswer = {
      grow: async (sizeBytes, signal) => {
        while (this.#sumBytes + sizeBytes > this.#totalBytes && !this.#isOldest(answer)) await this.#closing(signal)
        this.#add(answer, sizeBytes)
      },
      close: () => {
        this.#add(answer, -(this.#held.get(answer) ?? 0))
        this.#held.delete(answer)
        for (const look of this.#waiting) look()
      },
    }
    this.#held.set(answer, 0)
    return answer
  }

  #isOldest(answer: HeldAnswer): boolean {
    return this.#held.keys().next().value === answer
  }

  #add(answer: HeldAnswer, sizeBytes: number) {
    this.#held.set(answer, (this.#held.get(answer) ?? 0) + sizeBytes)
    this.#sumBytes += sizeBytes
  }

  /** Resolves when another response closes. */
  async #closing(signal: AbortSignal | null): Promise<void> {
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(look)
        reject(signal?.reason)
      }
      const look = () => {
        this.#waiting.delete(look)
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.add(look)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
}
