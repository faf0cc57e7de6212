import { setMaxListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { RunRow } from '../../../schemas/views.ts'
import type { Clock, Timer } from '../../ports/clock.ts'
import type { StreamedRun } from '../../services/runs/runs.ts'
import { withinTime } from '../../time/timers.ts'
import type { Context } from '../context.ts'

/** A run, as far as its text is concerned. */
export type TextRun = Pick<StreamedRun, 'texts' | 'ended'>

/** The server-sent events of a text, in the words of a route. */
export interface TextFrames {
  /** A further piece of the text. */
  piece(text: string): string
  end(row: RunRow): string
}

/** Proxies drop connections that are silent for longer. */
export const SILENCE_MS = 15_000

/** The longest piece, so that little more than the text waits for a client that does not read. */
const MAX_PIECE_LENGTH = 64 * 1024

/** Enough for all parts of one response. */
const MAX_LISTENERS = 30

/** The first half of a character at the end of a text. */
const HALF = /[\ud800-\udbff]$/

/** A comment, which clients ignore. */
export const COMMENT = ':\n\n'

/** The headers of server-sent events, which no proxy may keep or delay. */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'private, no-store',
  'X-Accel-Buffering': 'no',
}

/** A server-sent event whose data is an object, or the JSON of one. */
export const frame = (data: object | string, fields: { event?: string; id?: number | string } = {}): string => {
  const json = typeof data === 'string' ? data : JSON.stringify(data)
  return [...Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`), `data: ${json}\n\n`].join('')
}

/**
 * Answers with the text of a run as it arrives. Resolves to the run instead, and answers nothing, if the run fails
 * before there is any text, unless that takes longer than a silence may last. A client that reads slowly gets larger
 * pieces: no more than the text waits for it.
 */
export const answerText = async (
  ctx: Context,
  clock: Clock,
  run: TextRun,
  frames: TextFrames,
  signal: AbortSignal,
): Promise<RunRow | undefined> => {
  const text = new ArrivingText(run, signal)
  const startMs = clock.monotonicMs()
  await withinTime(clock, text.begun, SILENCE_MS, () => undefined)
  if (text.isEmpty && text.end?.status === 'failed') {
    text.close()
    return text.end
  }
  // Koa's pipeline and ours listen more than ten times.
  setMaxListeners(MAX_LISTENERS, ctx.res)
  ctx.status = 200
  ctx.set(STREAM_HEADERS)
  ctx.body = framesOf(text, frames, clock, startMs, ctx.res)
  return undefined
}

/**
 * The frames of a text that has been silent since a time. Makes one only when the client has room for it. The frames go
 * straight to the connection, each in one write: the stream only begins and ends the response. Through both, a token
 * would take a quarter more of the service's time.
 */
const framesOf = (
  text: ArrivingText,
  frames: TextFrames,
  clock: Clock,
  startMs: number,
  response: ServerResponse,
): Readable => {
  const socket = response.socket as Socket
  let isWanted = false
  let sentMs = startMs
  let silence: Timer | undefined
  const send = (frame: string) => {
    sentMs = clock.monotonicMs()
    isWanted = socket.write(response.chunkedEncoding ? chunkOf(frame) : frame)
  }
  const sendText = () => {
    while (isWanted) {
      if (text.error !== undefined) return void stream.destroy(text.error as Error)
      const piece = text.take()
      const end = text.isTaken ? text.end : undefined
      if (piece || end) send((piece && frames.piece(piece)) + (end ? frames.end(end) : ''))
      if (end) {
        stop()
        return void stream.push(null)
      }
      if (text.isTaken) return
    }
  }
  const goOn = () => {
    isWanted = true
    sendText()
  }
  const stop = () => {
    isWanted = false
    socket.off('drain', goOn)
    silence?.cancel()
    text.close()
  }
  const checkSilence = () => {
    if (isWanted && clock.monotonicMs() - sentMs >= SILENCE_MS) send(COMMENT)
    const leftMs = sentMs + SILENCE_MS - clock.monotonicMs()
    silence = clock.timer(leftMs > 0 ? leftMs : SILENCE_MS, checkSilence)
  }
  const stream = new Readable({
    // Once, since nothing is read.
    read: () => {
      socket.on('drain', goOn).cork()
      response.flushHeaders()
      isWanted = true
      checkSilence()
      sendText()
      socket.uncork()
    },
    destroy: (error, done) => {
      stop()
      done(error)
    },
  })
  text.onChange = sendText
  return stream
}

/** https://www.rfc-editor.org/rfc/rfc9112#section-7.1. Node.js would write the parts of a chunk one by one. */
const chunkOf = (frame: string) => `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`

/** The text of a run that has not been taken yet, and the run once it has ended, or the error that hides its end. */
class ArrivingText {
  end: RunRow | undefined
  error: unknown
  /** Is called after the text, its end or an error has arrived. Pieces that arrive together count as one. */
  onChange: () => void = () => undefined
  /** Resolves at the first change. Rejects with Unavailable. */
  readonly begun: Promise<void>
  /** Stops reading. */
  readonly close: () => void
  #untaken = ''
  #length = 0
  #isTelling = false

  constructor(run: TextRun, signal: AbortSignal) {
    this.begun = new Promise((resolve, reject) => {
      this.onChange = () => (this.error === undefined ? resolve() : reject(this.error))
    })
    const reading = run.texts.subscribe(piece => this.#add(piece))
    this.close = () => reading.unsubscribe()
    run
      .ended(signal)
      .then(
        row => {
          this.end = row
          this.#add(row.output?.text?.slice(this.#length) ?? '')
        },
        error => {
          this.error = error
          this.#tell()
        },
      )
      .finally(this.close)
  }

  /** Whether no text has arrived. */
  get isEmpty(): boolean {
    return this.#length === 0
  }

  get isTaken(): boolean {
    return this.#untaken === ''
  }

  /** The next piece, which ends with no half of a character. */
  take(): string {
    const all = this.#untaken
    const piece = all.length > MAX_PIECE_LENGTH ? all.slice(0, MAX_PIECE_LENGTH).replace(HALF, '') : all
    this.#untaken = all.slice(piece.length)
    return piece
  }

  #add(piece: string) {
    this.#untaken += piece
    this.#length += piece.length
    this.#tell()
  }

  #tell() {
    if (this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => {
      this.#isTelling = false
      this.onChange()
    })
  }
}
