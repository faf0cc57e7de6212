import { setMaxListeners } from 'node:events'
import { Readable } from 'node:stream'
import type { RunRow } from '../../../schemas/views.ts'
import type { StreamedRun } from '../../services/runs/runs.ts'
import type { Context } from '../context.ts'

/** The server-sent events of a text, in the words of a route. */
export interface TextFrames {
  /** A further piece of the text. */
  piece(text: string): string
  end(row: RunRow): string
}

/** Proxies drop connections that are silent for longer. */
const SILENCE_MS = 15_000

/** Enough for all parts of one response. */
const MAX_LISTENERS = 30

/** A comment, which clients ignore. */
const COMMENT = ':\n\n'

/** A server-sent event with JSON as its data. */
export const frame = (data: object, fields: { event?: string; id?: number } = {}): string =>
  [...Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`), `data: ${JSON.stringify(data)}\n\n`].join(
    '',
  )

/**
 * Answers with the text of a run as it arrives. Resolves to the run instead, and answers nothing, if the run fails
 * before there is any text, unless that takes longer than a silence may last. A client that reads slowly gets larger
 * pieces: no more than the text waits for it.
 */
export const answerText = async (
  ctx: Context,
  run: StreamedRun,
  frames: TextFrames,
  signal: AbortSignal,
): Promise<RunRow | undefined> => {
  const text = new ArrivingText(run, signal)
  await text.change()
  if (text.soFar === '' && text.end?.status === 'failed') {
    text.close()
    return text.end
  }
  // Koa's pipeline and ours listen more than ten times.
  setMaxListeners(MAX_LISTENERS, ctx.res)
  ctx.status = 200
  ctx.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'private, no-store', 'X-Accel-Buffering': 'no' })
  ctx.body = Readable.from(framesOf(text, frames))
  return undefined
}

async function* framesOf(text: ArrivingText, frames: TextFrames): AsyncGenerator<string> {
  try {
    for (let sent = 0; ; ) {
      const { soFar, end } = text
      if (soFar.length > sent) yield frames.piece(soFar.slice(sent))
      sent = soFar.length
      if (end) {
        yield frames.end(end)
        return
      }
      if ((await text.change()) === 'silence') yield COMMENT
    }
  } finally {
    text.close()
  }
}

/** The text of a run so far, and the run once it has ended. */
class ArrivingText {
  soFar = ''
  end: RunRow | undefined
  #error: unknown
  #wake: () => void = () => undefined
  readonly #close: () => void

  constructor(run: StreamedRun, signal: AbortSignal) {
    const wake = () => this.#wake()
    const subscription = run.texts.subscribe(text => {
      this.soFar = text
      wake()
    })
    this.#close = () => subscription.unsubscribe()
    run
      .ended(signal)
      .then(
        row => {
          this.soFar = row.output?.text ?? this.soFar
          this.end = row
        },
        error => {
          this.#error = error
        },
      )
      .finally(wake)
  }

  /**
   * Resolves when there is more text, the run has ended, or nothing has happened for a while. Rejects with Unavailable.
   */
  async change(): Promise<'change' | 'silence'> {
    const before = this.soFar
    let timer: NodeJS.Timeout | undefined
    const isDone = () => this.end !== undefined || this.#error !== undefined || this.soFar !== before
    const changed = new Promise<'change'>(resolve => {
      this.#wake = () => isDone() && resolve('change')
      this.#wake()
    })
    const silence = new Promise<'silence'>(resolve => {
      timer = setTimeout(resolve, SILENCE_MS, 'silence')
    })
    const what = await Promise.race([changed, silence]).finally(() => clearTimeout(timer))
    if (this.#error !== undefined) throw this.#error
    return what
  }

  close() {
    this.#close()
  }
}
