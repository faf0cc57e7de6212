import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Dicer } from '@fastify/busboy'
import { decodeUtf8 } from './utf8.ts'

/** A body that is not valid multipart/form-data (RFC 7578, RFC 2046). */
export class Malformed extends Error {
  override name = 'Malformed'
}

/** One part of a form. Its handler reads the body to the end; the body is destroyed if the form fails. */
export interface Part {
  /** The first header with this lower-case name. */
  header(name: string): string | undefined
  body: Readable
}

export interface Form {
  boundary: string
  /** The limit for the whole body, and the error beyond it. */
  maxBytes: number
  tooLarge: () => Error
  take: (part: Part) => Promise<void>
}

/**
 * The headers of a part have the limits of a request's headers; headers beyond the limits are dropped. The parser must
 * survive the end of its input, because parts may still be read from it.
 */
const OPTIONS = { maxHeaderPairs: 100, maxHeaderSize: 16 * 1024, autoDestroy: false }

/**
 * Hands over the parts of a form as they arrive. Rejects with Malformed, or with the error of a handler; by then all
 * handlers have settled, and the connection is still open for the response. This uses the parser beneath Busboy,
 * because Busboy silently skips broken parts and any filename* that follows a filename.
 */
export const readForm = async (req: IncomingMessage, { boundary, maxBytes, tooLarge, take }: Form): Promise<void> => {
  const parser = new Dicer({ boundary, ...OPTIONS })
  const bodies: Readable[] = []
  const taken: Promise<void>[] = []
  let sizeBytes = 0
  const count = (piece: Buffer) => {
    sizeBytes += piece.length
    if (sizeBytes > maxBytes) parser.destroy(tooLarge())
  }
  parser.on('part', (body: Readable) => {
    // The parser reports the same error itself, and again after its listeners are removed.
    body.on('error', () => undefined)
    if (parser.destroyed) return
    if (taken.length < bodies.length) parser.destroy(headless())
    bodies.push(body)
    body.once('header', (headers: Record<string, string[]>) => {
      if (parser.destroyed) return
      const taking = take({ header: name => decoded(headers[name]?.[0]), body })
      taking.catch(error => parser.destroy(error))
      taken.push(taking)
    })
  })
  parser.on('error', () => undefined)
  try {
    const parsed = once(parser, 'finish').catch(error => {
      throw error.message === UNEXPECTED_END ? new Malformed(ENDED) : error
    })
    const read = finished(req, { writable: false }).catch(() => {
      throw new Malformed('The body was interrupted')
    })
    // A form may end before its body, and the pipe stops there.
    req
      .on('data', count)
      .pipe(parser)
      .once('finish', () => req.resume())
    await Promise.all([parsed, read])
    if (taken.length < bodies.length) throw headless()
    await Promise.all(taken)
  } catch (error) {
    parser.destroy()
    for (const body of bodies) body.destroy()
    await Promise.allSettled(taken)
    throw error
  } finally {
    req.unpipe(parser).off('data', count).resume()
  }
}

const UNEXPECTED_END = 'Unexpected end of multipart data'

const ENDED = 'The body ends before the form does: it was cut off, or the Content-Type names a wrong boundary'

const headless = () => new Malformed('The headers of a part are incomplete')

/** The parser decodes headers as Latin-1, but clients send UTF-8. */
const decoded = (header: string | undefined) => {
  const text = decodeUtf8(Buffer.from(header ?? '', 'latin1'))
  if (text === undefined) throw new Malformed('The headers of a part are not in UTF-8')
  return header && text
}
