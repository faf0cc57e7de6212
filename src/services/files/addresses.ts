import { isHttp } from '../../domain/http-url.ts'
import { type Folder, isObjectKey } from '../../ports/object-store.ts'
import { invoicePath } from '../purchases/pages.ts'

/** The path below which the service serves stored files. */
export const CDN_PATH = '/cdn'

/** The path below which providers report ended jobs. */
export const CALLBACKS_PATH = '/callbacks'

/** The addresses of stored files and of invoices. The base URL is a function, because the port may not be known yet. */
export class Addresses {
  readonly #publicUrl: () => string
  readonly #cdnUrl: string | undefined

  /** `publicUrl` is the URL of the service. `cdnUrl` is the CDN in front of the object store, if there is one. */
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

  /** Leads the owner of an account to the invoice of a purchase. */
  invoiceOf(purchaseId: string): string {
    return `${this.#publicUrl()}${invoicePath(purchaseId)}`
  }

  /** The object key in an address, even if the object does not exist; undefined for addresses elsewhere. */
  keyOf(address: string): string | undefined {
    // Parsing a long data: URL takes a tenth of a second.
    if (!isHttp(address) || !URL.canParse(address)) return undefined
    const { origin, pathname } = new URL(address)
    for (const base of [this.ownUrl, this.#cdnUrl]) {
      if (base === undefined) continue
      const { origin: baseOrigin, pathname: basePath } = new URL(`${base}/`)
      if (origin === baseOrigin && pathname.startsWith(basePath)) return pathname.slice(basePath.length)
    }
    return undefined
  }
}

/** Whether a key belongs to the key of an account, which nobody may read. */
export const isVaultKey = (key: string) => key.startsWith('vault/' satisfies `${Folder}/`)

/** Whether a key belongs to an upload. */
export const isUploadKey = (key: string) => isObjectKey(key) && key.startsWith('uploads/' satisfies `${Folder}/`)
