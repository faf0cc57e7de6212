import { ApiError } from '../../transports/api-error.ts'
import type { Context } from '../context.ts'
import { arrivesInTime } from './json-body.ts'

/** Reads a body of at most so many bytes as it was sent, for signatures. */
export const rawBody = async (ctx: Context, maxBytes: number): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = []
  const read = async () => {
    let sizeBytes = 0
    // The request stays open for its answer.
    for await (const piece of ctx.req.iterator({ destroyOnReturn: false })) {
      sizeBytes += piece.byteLength
      if (sizeBytes > maxBytes) throw new ApiError('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
      pieces.push(piece)
    }
  }
  await arrivesInTime(ctx, read())
  return Buffer.concat(pieces)
}
