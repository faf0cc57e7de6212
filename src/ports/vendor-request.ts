import type { IncomingHttpHeaders } from 'node:http'

/**
 * Sends one request to a vendor, and reads the response. Refusals and redirects are responses. Rejects without a
 * readable response.
 */
export type RequestVendor = (url: string, request: VendorRequest, readLong: ReadLong) => Promise<VendorAnswer>

export interface VendorRequest {
  /** GET by default. */
  method?: string | undefined
  headers: Record<string, string>
  body?: string | AsyncIterable<Uint8Array> | undefined
  signal?: AbortSignal | null | undefined
  /** Begins to read a success as it arrives, from its first byte; undefined if it is to be read like any other. */
  readStream?: ((headers: VendorAnswer['headers']) => LongBody | undefined) | undefined
}

/** Begins to read a long body that is no refusal. */
export type ReadLong = (headers: VendorAnswer['headers']) => LongBody

/** A long body, or a stream, as it arrives. */
export interface LongBody {
  /** The memory that it takes at the moment. */
  readonly heldBytes: number
  /** Takes the next bytes. No more may follow until the promise resolves, if there is one. */
  write(bytes: Buffer<ArrayBuffer>): Promise<void> | undefined
  /** What is left for the caller after the last bytes. */
  end(): Promise<Buffer<ArrayBuffer>>
}

export interface VendorAnswer {
  status: number
  headers: IncomingHttpHeaders
  /** Only the start of a long error, and of another long body what its reader has left. */
  body: Buffer<ArrayBuffer>
}
