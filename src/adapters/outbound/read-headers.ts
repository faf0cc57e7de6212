import type { IncomingHttpHeaders } from 'node:http'

/** The headers of a response, read-only. Filling a `Headers` object takes several times as long. */
export class ReadHeaders extends Map<string, string> {
  readonly #cookies: readonly string[]

  /** The names are in lowercase. */
  constructor(headers: IncomingHttpHeaders) {
    super()
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined) this.set(name, typeof value === 'string' ? value : value.join(', '))
    }
    this.#cookies = headers['set-cookie'] ?? []
  }

  /** Null if there is none, as in `Headers`. */
  override get(name: string) {
    return (super.get(name.toLowerCase()) ?? null) as string
  }

  override has(name: string) {
    return super.has(name.toLowerCase())
  }

  getSetCookie(): string[] {
    return [...this.#cookies]
  }
}
