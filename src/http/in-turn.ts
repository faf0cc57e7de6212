import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that one connection may send ahead. Clients that pipeline send a few; the rest is an attack on memory. */
const MAX_AHEAD = 8

type Exchange = [IncomingMessage, ServerResponse]

/**
 * Handles the requests of a connection one after another. Node.js hands over all that a client sends ahead, and work on
 * them would pile up while the client takes no response.
 */
export const inTurn = (handle: (...exchange: Exchange) => unknown): RequestListener => {
  const ahead = new WeakMap<Socket, Exchange[]>()

  const begin = (socket: Socket, exchange: Exchange) => {
    const [, response] = exchange
    response.once('close', () => {
      const next = ahead.get(socket)?.shift()
      if (next && !socket.destroyed) begin(socket, next)
      else ahead.delete(socket)
    })
    handle(...exchange)
  }

  return (...exchange) => {
    const { socket } = exchange[0]
    const waiting = ahead.get(socket)
    if (waiting === undefined) {
      ahead.set(socket, [])
      begin(socket, exchange)
    } else if (waiting.length < MAX_AHEAD) waiting.push(exchange)
    else socket.destroy()
  }
}
