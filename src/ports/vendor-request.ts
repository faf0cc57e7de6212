import type { IncomingHttpHeaders } from 'node:http'

/**
 * Sends one request to a vendor, and reads the whole answer. A refusal or a redirect is an answer; a rejection means
 * that there is none, or none that can be read.
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
  /** Of a long error, only the beginning. */
  body: Buffer<ArrayBuffer>
}
