/**
 * Requests to addresses that came from outside. Only public addresses are reached, looked up anew for each connection, and no
 * redirect is followed: whoever names an address must not get at what only the service can reach.
 */
export interface Outbound {
  /** Sends a body and resolves to the answer, whatever its status. The answer's body is thrown away. */
  post(url: string, request: OutboundPost): Promise<OutboundAnswer>
  /** Fetches a document. Rejects with OutboundError, for a status other than 200 too, and for more bytes than allowed. */
  get(url: string, request: OutboundGet): Promise<OutboundDocument>
  close(): Promise<void>
}

export interface OutboundPost {
  headers: Record<string, string>
  body: string
  timeoutMs: number
}

export interface OutboundAnswer {
  status: number
  /** The header of that name, as it came. */
  retryAfter: string | undefined
}

export interface OutboundGet {
  maxBytes: number
  timeoutMs: number
  signal?: AbortSignal
}

export interface OutboundDocument {
  /** As the sender says, in lower case and without parameters; `application/octet-stream` where it says nothing. */
  mimeType: string
  bytes: Uint8Array
}

/** There was no answer, or it may not be asked for. The message is for whoever gave the address, and names nothing inside. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  /** `refused`: this address is never asked; `failed`: it did not answer as it should, and may another time. */
  readonly kind: 'refused' | 'failed'

  constructor(kind: 'refused' | 'failed', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}
