import type { Next } from 'koa'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import type { Context } from '../context.ts'

/**
 * Reads what is left of a body once its request is answered, and throws it away: a client that sends all of it before it looks
 * for the answer would find the connection closed. One that sends very much more is cut off.
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
