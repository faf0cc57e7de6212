import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that one connection may send ahead. Clients that pipeline send a few; more are an attack on memory. */
const MAX_AHEAD = 8

type Exchange = [IncomingMessage, ServerResponse]

/**
 * Handles the requests of each connection one after another. Node.js hands over all that a client sends ahead, and work
 * on them would pile up while the client takes no response.
 */
export class Pipelines {
  readonly #handle: RequestListener
  readonly #idle: (socket: Socket) => void
  /** The exchange that the service handles, and the exchanges that the client sent ahead. */
  readonly #exchanges = new WeakMap<Socket, Exchange[]>()

  /** `idle` is called with each connection that has no further request after a response. */
  constructor(handle: RequestListener, idle: (socket: Socket) => void) {
    this.#handle = handle
    this.#idle = idle
  }

  /** The request that is handled; undefined between two requests. */
  current(socket: Socket): IncomingMessage | undefined {
    return this.#exchanges.get(socket)?.[0]?.[0]
  }

  /** The request whose body is arriving. The service may still handle an earlier request. */
  arriving(socket: Socket): IncomingMessage | undefined {
    const request = this.#exchanges.get(socket)?.at(-1)?.[0]
    return request?.complete === false ? request : undefined
  }

  /** Destroys a connection that sends too many requests ahead. */
  add(...exchange: Exchange) {
    const [{ socket }] = exchange
    const exchanges = this.#exchanges.get(socket)
    if (exchanges === undefined) this.#begin(socket, [exchange])
    else if (exchanges.length <= MAX_AHEAD) exchanges.push(exchange)
    else socket.destroy()
  }

  #begin(socket: Socket, exchanges: Exchange[]) {
    const [exchange] = exchanges
    if (!exchange || socket.destroyed) {
      this.#exchanges.delete(socket)
      if (!socket.destroyed) this.#idle(socket)
      return
    }
    this.#exchanges.set(socket, exchanges)
    const [, response] = exchange
    response.once('close', () => this.#begin(socket, exchanges.slice(1)))
    this.#handle(...exchange)
  }
}
