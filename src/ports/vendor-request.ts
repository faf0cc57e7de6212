import type { IncomingHttpHeaders } from 'node:http'

/**
 * Sends one request to a vendor, and reads the whole response. Refusals and redirects are responses. Rejects without a
 * readable response.
 */
export type RequestVendor = (url: string, request: VendorRequest) => Promise<VendorAnswer>

export interface VendorRequest {
  /** GET by default. */
  method?: string | undefined
  headers: Record<string, string>
  body?: string | AsyncIterable<Uint8Array> | undefined
  signal?: AbortSignal | null | undefined
}

export interface VendorAnswer {
  status: number
  headers: IncomingHttpHeaders
  /** Only the start of a long error. */
  body: Buffer<ArrayBuffer>
}
