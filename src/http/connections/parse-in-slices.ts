import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Bytes that are parsed at once: a few requests, or a larger part of a body. */
const SLICE_BYTES = 1024
const BODY_SLICE_BYTES = 16 * 1024

/** The requests of a connection whose bodies are arriving. */
export interface Arriving {
  /** The request; undefined if none is incomplete. */
  request(): IncomingMessage | undefined
  /** False if too many are arriving. */
  admit(request: IncomingMessage): boolean
  /** Resolves when it is the turn of its client to send more. */
  nextTurn(request: IncomingMessage): Promise<void>
  refuse(): void
}

/**
 * Parses the bytes of a connection in slices, and stops when the connection is destroyed or paused. Node.js reads 64 KB
 * at a time and hands over every request in them, even if the first requests end the connection. After each read, a
 * body waits for its turn. Otherwise hundreds of large bodies would be read before the next connection is accepted.
 */
export const parseInSlices = (socket: Socket, arriving: Arriving) => {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
  if (!parse) return
  let isWaiting = false
  const waitForTurn = async (request: IncomingMessage) => {
    isWaiting = true
    socket.pause()
    await arriving.nextTurn(request)
    isWaiting = false
    if (!socket.destroyed) socket.resume()
  }
  socket.off('data', parse).on('data', (bytes: Buffer) => {
    // Node.js resumes a connection when its body is read.
    if (isWaiting) socket.pause()
    let at = 0
    // Node.js pauses a connection on which responses or a body pile up, and ends the process if it must parse more.
    while (at < bytes.length && !socket.destroyed && !socket.isPaused()) {
      const end = at + (arriving.request() ? BODY_SLICE_BYTES : SLICE_BYTES)
      parse.call(socket, bytes.subarray(at, end))
      at = end
    }
    if (socket.destroyed) return
    const request = arriving.request()
    if (request && !arriving.admit(request)) arriving.refuse()
    else if (at < bytes.length) socket.unshift(bytes.subarray(at))
    else if (request && !socket.isPaused()) void waitForTurn(request)
  })
}
