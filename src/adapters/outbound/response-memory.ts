/** The memory of a response that is being read. */
export interface HeldResponse {
  /** Counts bytes that have arrived. False if the response must pause until it is resumed. */
  grow(sizeBytes: number): boolean
  /** The response was read or abandoned. */
  close(): void
}

/**
 * Limits the memory of concurrent responses of unknown size. When the memory is used up, only the oldest response grows
 * and the others wait. So all of them end, and at most one exceeds the limit.
 */
export class ResponseMemory {
  readonly #totalBytes: number
  /** How to resume each response, oldest first. */
  readonly #held = new Map<HeldResponse, () => void>()
  #sumBytes = 0

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
  }

  /** `resume` may be called at any time until the response is closed. */
  open(resume: () => void): HeldResponse {
    let ownBytes = 0
    const response: HeldResponse = {
      grow: sizeBytes => {
        ownBytes += sizeBytes
        this.#sumBytes += sizeBytes
        return this.#mayGrow(response)
      },
      close: () => {
        if (!this.#held.delete(response)) return
        this.#sumBytes -= ownBytes
        for (const [each, resume] of this.#held) if (this.#mayGrow(each)) resume()
      },
    }
    this.#held.set(response, resume)
    return response
  }

  #mayGrow(response: HeldResponse): boolean {
    return this.#sumBytes < this.#totalBytes || this.#held.keys().next().value === response
  }
}
