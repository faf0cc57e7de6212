import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Dicer } from '@fastify/busboy'

/** A body is not what multipart/form-data is (RFC 7578, RFC 2046). */
export class Malformed extends Error {
  override name = 'Malformed'
}

/** One part of a form. Whoever takes it reads its body to the end; the body is destroyed when the form comes to nothing. */
export interface Part {
  /** The first header of a name in lower case. */
  header(name: string): string | undefined
  body: Readable
}

export interface Form {
  boundary: string
  /** Of the whole body, and what it is refused with. */
  maxBytes: number
  tooLarge: () => Error
  take: (part: Part) => Promise<void>
}

/**
 * A part's headers are limited as those of a whole request are; what goes beyond is left out. The parser stays when its input
 * has ended, for parts may still be read from it.
 */
const OPTIONS = { maxHeaderPairs: 100, maxHeaderSize: 16 * 1024, autoDestroy: false }

/**
 * Takes the parts of a form as they come in. Rejects with Malformed, and with what taking a part rejects with; no part is being
 * taken then, and the connection is still there for the answer.
 *
 * This is the parser beneath Busboy itself, which passes over broken parts in silence, and over a filename* behind a filename.
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
    // The parser tells of the same error itself, and again when nobody listens any more.
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
      throw error.message === UNEXPECTED_END ? new Malformed('The body ends before the form does') : error
    })
    const read = finished(req, { writable: false }).catch(() => {
      throw new Malformed('The body was broken off')
    })
    // A form may end before its body, and a pipe stops there.
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

const headless = () => new Malformed('The headers of a part do not end')

/** Headers come as bytes. */
const decoded = (header: string | undefined) => header && Buffer.from(header, 'latin1').toString()
