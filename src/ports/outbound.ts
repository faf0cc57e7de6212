import type { Writable } from 'node:stream'

/**
 * Requests to URLs that clients or providers supply. To prevent SSRF, it connects to public addresses only, resolves
 * names for each connection, and follows no redirects, except for `get`.
 */
export interface Outbound {
  /** Whether the host of a URL is literally not public, so that no request to it can succeed. */
  refuses(url: string): boolean
  /** Sends a body and resolves to the response, whatever its status. Discards the response body. */
  post(url: string, request: OutboundPost): Promise<OutboundAnswer>
  /**
   * Fetches a document, through at most three redirects, each to a URL that is checked like the first. Rejects with
   * OutboundError, including for a status other than 200 and for too many bytes.
   */
  get(url: string, request: OutboundGet): Promise<OutboundDocument>
  /**
   * Streams a document into a writable, and ends that; the writable is destroyed if the copy fails. Holds no more than
   * buffers of it in memory. Rejects as `get` does, or with the writable's Unavailable.
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
  /** Called with the size of the document if it is declared, before any of it is in memory. */
  onSize?: (sizeBytes: number) => void
}

export interface OutboundCopy {
  /** A document that is declared to be larger is refused at once, and any other as soon as it turns out to be. */
  maxBytes: number
  timeoutMs: number
  signal?: AbortSignal
  /** Receives all bytes in order. */
  onBytes?: (bytes: Uint8Array) => void
  /** An origin that may be private, since the operator has configured it. */
  trustedOrigin?: string | undefined
}

interface OutboundDocument {
  /** As declared, in lower case and without parameters; `application/octet-stream` by default. */
  mimeType: string
  bytes: Uint8Array
}

/** A refused or failed request. The message is shown to the client, and reveals nothing about the internal network. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  /** `refused`: this URL is never requested; `failed`: the request failed and may succeed later. */
  readonly kind: 'refused' | 'failed'

  constructor(kind: 'refused' | 'failed', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** Reads a body of a known size. Takes its memory once: collected pieces would take it twice when they are joined. */
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
