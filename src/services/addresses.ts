/** Where the service itself serves objects, by their keys. */
export const CDN_PATH = '/cdn'

/** The addresses of our own files. What they begin with is asked each time, for it may be known only once the port is. */
export class Addresses {
  readonly #publicUrl: () => string
  readonly #cdnUrl: string | undefined

  /** `publicUrl` is how clients reach the service, and `cdnUrl` a front of the object store, where files come from there. */
  constructor(publicUrl: () => string, cdnUrl?: string) {
    this.#publicUrl = publicUrl
    this.#cdnUrl = cdnUrl
  }

  /** What the addresses begin with under which the service itself serves files. */
  get ownUrl(): string {
    return this.#publicUrl() + CDN_PATH
  }

  urlOf(key: string): string {
    return `${this.#cdnUrl ?? this.ownUrl}/${key}`
  }

  /** What an address leads to here: an object's key, which need not exist; or undefined when it leads elsewhere. */
  keyOf(address: string): string | undefined {
    if (!URL.canParse(address)) return undefined
    const { origin, pathname } = new URL(address)
    for (const base of [this.ownUrl, this.#cdnUrl]) {
      if (base === undefined) continue
      const ours = new URL(`${base}/`)
      if (origin === ours.origin && pathname.startsWith(ours.pathname)) return pathname.slice(ours.pathname.length)
    }
    return undefined
  }
}
