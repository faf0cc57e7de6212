/** The memory of a response that is being read. */
export interface HeldResponse {
  /** Resolves once there is memory for this many more bytes. Rejects if the signal aborts first. */
  grow(sizeBytes: number, signal: AbortSignal | null): Promise<void>
  /** The response was read or abandoned. */
  close(): void
}

/**
 * Limits the memory of concurrent responses of unknown size. When the memory is used up, only the oldest response grows
 * and the others wait. So all of them end, and at most one exceeds the limit.
 */
export class ResponseMemory {
  readonly #totalBytes: number
  /** The bytes of each response, oldest first. */
  readonly #held = new Map<HeldResponse, number>()
  readonly #waiting = new Set<() => void>()
  #sumBytes = 0

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
  }

  open(): HeldResponse {
    const response: HeldResponse = {
      grow: async (sizeBytes, signal) => {
        while (this.#sumBytes + sizeBytes > this.#totalBytes && !this.#isOldest(response)) await this.#closing(signal)
        this.#add(response, sizeBytes)
      },
      close: () => {
        this.#add(response, -(this.#held.get(response) ?? 0))
        this.#held.delete(response)
        for (const look of this.#waiting) look()
      },
    }
    this.#held.set(response, 0)
    return response
  }

  #isOldest(response: HeldResponse): boolean {
    return this.#held.keys().next().value === response
  }

  #add(response: HeldResponse, sizeBytes: number) {
    this.#held.set(response, (this.#held.get(response) ?? 0) + sizeBytes)
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
