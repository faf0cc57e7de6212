import type { Writable } from 'node:stream'

/**
 * Requests to URLs from clients or providers. To prevent SSRF, connects only to public addresses, resolves names for
 * each connection, and follows no redirects, except for `get`.
 */
export interface Outbound {
  /** Whether the host in a URL is itself forbidden, so that no request to it can succeed. */
  refuses(url: string): boolean
  /** Sends a body. Resolves to the response with any status, and discards the response body. */
  post(url: string, request: OutboundPost): Promise<OutboundAnswer>
  /**
   * Fetches a document, through at most three redirects, each to a checked URL. Rejects with OutboundError, including
   * for a status other than 200 and for too many bytes.
   */
  get(url: string, request: OutboundGet): Promise<OutboundDocument>
  /**
   * Streams a document into a writable, and ends the writable, or destroys it if the copy fails. Holds only buffers in
   * memory. Rejects like `get`, or with the writable's Unavailable.
   */
  copy(url: string, into: Writable, request: OutboundCopy): Promise<void>
  close(): Promise<void>
}

interface OutboundPost {
  headers: Record<string, string>
  body: string
  timeoutMs: number
}

interface OutboundAnswer {
  status: number
  /** The Retry-After header, unparsed. */
  retryAfter: string | undefined
}

export interface OutboundGet {
  maxBytes: number
  timeoutMs: number
  signal?: AbortSignal
  /** Called with the declared size of the document, if any, before any of the document is in memory. */
  onSize?: (sizeBytes: number) => void
}

export interface OutboundCopy {
  /** A document with a larger declared size is refused at once, and any other document once it exceeds this size. */
  maxBytes: number
  timeoutMs: number
  signal?: AbortSignal
  /** Receives all bytes in order. */
  onBytes?: (bytes: Uint8Array) => void
  /** An origin that may be private, because the operator configured it. */
  trustedOrigin?: string | undefined
}

interface OutboundDocument {
  /** The declared type, in lower case and without parameters; `application/octet-stream` by default. */
  mimeType: string
  bytes: Uint8Array
}

/** A refused or failed request. The client sees the message, which reveals nothing about the internal network. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  /** `refused`: this URL is never requested; `failed`: the request may succeed later. */
  readonly kind: 'refused' | 'failed'

  constructor(kind: 'refused' | 'failed', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** Reads a body of a known size. Allocates its memory once, while joining collected pieces would take twice as much. */
export const readSized = async (body: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(sizeBytes)
  let filled = 0
  for await (const piece of body) {
    if (filled + piece.byteLength > sizeBytes) throw new RangeError(`The body has more than ${sizeBytes} bytes.`)
    bytes.set(piece, filled)
    filled += piece.byteLength
  }
  if (filled < sizeBytes) throw new RangeError(`The body has ${filled} bytes instead of ${sizeBytes}.`)
  return bytes
}
