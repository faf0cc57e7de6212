import { type Folder, isObjectKey } from '../../ports/object-store.ts'

/** The path at which the service serves objects by their keys. */
export const CDN_PATH = '/cdn'

/** The path below which providers report the ends of jobs. */
export const CALLBACKS_PATH = '/callbacks'

/** The addresses of stored files. The base URL is a function, because it may be known only once the port is. */
export class Addresses {
  readonly #publicUrl: () => string
  readonly #cdnUrl: string | undefined

  /**
   * `publicUrl` is the address of the service. `cdnUrl` is the front of the object store that serves files, if there is
   * one.
   */
  constructor(publicUrl: () => string, cdnUrl?: string) {
    this.#publicUrl = publicUrl
    this.#cdnUrl = cdnUrl
  }

  /** The base URL at which the service itself serves files. */
  get ownUrl(): string {
    return this.#publicUrl() + CDN_PATH
  }

  urlOf(key: string): string {
    return `${this.#cdnUrl ?? this.ownUrl}/${key}`
  }

  /** The object key that an address names, whether or not the object exists; undefined for addresses elsewhere. */
  keyOf(address: string): string | undefined {
    if (!URL.canParse(address)) return undefined
    const { origin, pathname } = new URL(address)
    for (const base of [this.ownUrl, this.#cdnUrl]) {
      if (base === undefined) continue
      const { origin: baseOrigin, pathname: basePath } = new URL(`${base}/`)
      if (origin === baseOrigin && pathname.startsWith(basePath)) return pathname.slice(basePath.length)
    }
    return undefined
  }
}

/** Whether a key is that of an upload. */
export const isUploadKey = (key: string) => isObjectKey(key) && key.startsWith('uploads/' satisfies `${Folder}/`)
