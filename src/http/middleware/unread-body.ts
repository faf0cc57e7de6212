import type { Next } from 'koa'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import type { Context } from '../context.ts'

/**
 * Reads and discards the rest of a body after the response: a client that sends all of it before it reads the response
 * would find the connection closed. Clients that send far more are disconnected.
 */
export const unreadBody = async ({ req }: Context, next: Next) => {
  try {
    await next()
  } finally {
    let leftBytes = MAX_PRESIGNED_BYTES
    if (!req.readableEnded)
      req.on('data', (bytes: Uint8Array) => {
        leftBytes -= bytes.byteLength
        if (leftBytes < 0) req.destroy()
      })
  }
}
