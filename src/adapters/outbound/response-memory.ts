/** The memory of a response that is being read. */
export interface HeldResponse {
  /** States how much memory the response takes now. False if it must pause until it is resumed. */
  hold(sizeBytes: number): boolean
  /** The response was read or abandoned. */
  close(): void
}

/** The responses of a server. */
interface Server {
  sizeBytes: number
  /** How to resume each response, the oldest first. */
  readonly held: Map<HeldResponse, () => void>
}

/**
 * Limits the memory of all responses that are being read. A server may use as much as is left free, so there is always
 * memory for another one. When a server has used up its part, only its oldest response grows, and its others wait. So
 * all of them end, and at most one of each server exceeds the limit.
 */
export class ResponseMemory {
  readonly #totalBytes: number
  readonly #servers = new Map<string, Server>()
  #sumBytes = 0

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
  }

  /** `resume` may be called at any time until the response is closed. */
  open(name: string, resume: () => void): HeldResponse {
    const server = this.#servers.get(name) ?? { sizeBytes: 0, held: new Map() }
    this.#servers.set(name, server)
    let ownBytes = 0
    const add = (sizeBytes: number) => {
      ownBytes += sizeBytes
      server.sizeBytes += sizeBytes
      this.#sumBytes += sizeBytes
      if (sizeBytes < 0) this.#resumeAll()
    }
    const response: HeldResponse = {
      hold: sizeBytes => {
        add(sizeBytes - ownBytes)
        return this.#mayGrow(response, server)
      },
      close: () => {
        if (!server.held.delete(response)) return
        if (server.held.size === 0) this.#servers.delete(name)
        add(-ownBytes)
      },
    }
    server.held.set(response, resume)
    return response
  }

  #resumeAll() {
    for (const server of this.#servers.values())
      for (const [each, resume] of server.held) if (this.#mayGrow(each, server)) resume()
  }

  #mayGrow(response: HeldResponse, { sizeBytes, held }: Server): boolean {
    return sizeBytes < this.#totalBytes - this.#sumBytes || held.keys().next().value === response
  }
}
