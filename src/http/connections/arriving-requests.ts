import type { IncomingMessage } from 'node:http'
import { OpenCounts } from '../../flow/open-counts.ts'

/**
 * Requests whose bodies are arriving at a time, in all and from one network. Each holds up to 144 KB that nothing has
 * asked for yet: a full buffer of the request and one read of its connection. Most bodies come with their headers and
 * never count.
 */
const MAX_ARRIVING = 1_000
const MAX_ARRIVING_PER_NETWORK = 500

/** Limits the requests whose bodies are arriving, before anything else about them is known. */
export class ArrivingRequests {
  readonly #networkOf: (request: IncomingMessage) => string
  readonly #open = new OpenCounts<string>(MAX_ARRIVING_PER_NETWORK, MAX_ARRIVING)
  readonly #admitted = new WeakSet<IncomingMessage>()

  constructor(networkOf: (request: IncomingMessage) => string) {
    this.#networkOf = networkOf
  }

  /** Counts a request until its body has been read or its client has left. False if there are too many. */
  admit(request: IncomingMessage): boolean {
    if (this.#admitted.has(request)) return true
    if (!this.#open.add(this.#networkOf(request), request)) return false
    this.#admitted.add(request)
    return true
  }
}
