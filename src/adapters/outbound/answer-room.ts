/** The memory of an answer that is being read. */
export interface HeldAnswer {
  /** Resolves once there is room for so many more bytes. Rejects if the signal aborts first. */
  grow(sizeBytes: number, signal: AbortSignal | null): Promise<void>
  /** It is read, or given up. */
  close(): void
}

/**
 * Limits the memory of answers that are read at a time, whose sizes are not known before. While there is no room, only
 * the oldest one grows, and the others wait: so all of them end, and no more than one exceeds the room.
 */
export class AnswerRoom {
  readonly #totalBytes: number
  /** The bytes of each answer, the oldest answer first. */
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

  /** Resolves when another answer closes. */
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
