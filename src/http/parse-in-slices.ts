import type { Socket } from 'node:net'

/** Bytes that are parsed at once: a few requests, or a larger part of a body. */
const SLICE_BYTES = 1024
const BODY_SLICE_BYTES = 16 * 1024

/**
 * Parses what a connection sends in slices, and stops when the connection is destroyed or paused. Node.js reads 64 KB
 * at a time and hands over every request in them, even if the first ones end the connection.
 */
export const parseInSlices = (socket: Socket, isInBody: () => boolean) => {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
  if (!parse) return
  socket.off('data', parse).on('data', (bytes: Buffer) => {
    let at = 0
    while (at < bytes.length && !socket.destroyed) {
      // Node.js pauses a connection on which responses pile up, and ends the process if it must parse more meanwhile.
      if (socket.isPaused()) {
        socket.unshift(bytes.subarray(at))
        return
      }
      const end = at + (isInBody() ? BODY_SLICE_BYTES : SLICE_BYTES)
      parse.call(socket, bytes.subarray(at, end))
      at = end
    }
  })
}
