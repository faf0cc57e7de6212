import { createParser, type EventSourceParser } from 'eventsource-parser'
import type { LongBody, VendorAnswer } from '../../ports/vendor-request.ts'
import { assertParseable, MAX_DOCUMENT_BYTES, tooLong } from './json-limits.ts'

/** Longer than any answer of a model, since some servers send a whole answer as one event. */
const MAX_EVENT_LENGTH = 1024 * 1024

/** Parsing so short an event takes less than a millisecond, whatever is in it. */
const SHORT_LENGTH = 4 * 1024

/** The last line of OpenAI and compatible servers, which is not JSON. */
export const DONE = '[DONE]'

export const isEventStream = ({ 'content-type': type = '' }: VendorAnswer['headers']) =>
  /^text\/event-stream\b/i.test(type)

/**
 * Reads the JSON of server-sent events as they arrive: https://html.spec.whatwg.org/multipage/server-sent-events.html.
 * `take` returns how many bytes of text it keeps. Leaves nothing for the caller.
 */
export class EventStream implements LongBody {
  readonly #take: (event: unknown) => number
  readonly #decoder = new TextDecoder()
  readonly #parser: EventSourceParser
  readonly #events: string[] = []
  #isTooLong = false
  #keptBytes = 0
  /** Whether the text so far ends with a carriage return. */
  #endsInReturn = false
  /** The bytes since the last event. */
  #pendingBytes = 0
  #taking = Promise.resolve()

  constructor(take: (event: unknown) => number) {
    this.#take = take
    this.#parser = createParser({
      maxBufferSize: MAX_EVENT_LENGTH,
      onEvent: ({ data }) => {
        this.#pendingBytes = 0
        if (data.trim() !== '') this.#events.push(data)
      },
      // Unknown fields are ignored.
      onError: ({ type }) => {
        this.#isTooLong ||= type === 'max-buffer-size-exceeded'
      },
    })
  }

  get heldBytes(): number {
    return this.#keptBytes + this.#pendingBytes
  }

  write(bytes: Buffer): Promise<void> | undefined {
    this.#pendingBytes += bytes.byteLength
    this.#parser.feed(this.#inLines(this.#decoder.decode(bytes, { stream: true })))
    return this.#process()
  }

  /** Some servers end with the last event, without the empty line that completes it. */
  async end(): Promise<Buffer<ArrayBuffer>> {
    await this.#taking
    this.#parser.feed(`${this.#inLines(this.#decoder.decode())}\n\n`)
    await this.#process()
    return Buffer.alloc(0)
  }

  /** The text with line feeds only: the parser would search all of it for each carriage return. */
  #inLines(text: string): string {
    const rest = this.#endsInReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#endsInReturn = text.endsWith('\r')
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest
  }

  /** Takes short events at once: while a promise is open, the answer is paused, which takes longer than most events. */
  #process(): Promise<void> | undefined {
    const events = this.#events.splice(0)
    try {
      if (this.#isTooLong) throw tooLong()
      if (events.every(({ length }) => length <= SHORT_LENGTH)) return void events.forEach(this.#takeOne)
      this.#taking = this.#takeEach(events)
      return this.#taking
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #takeEach(events: string[]): Promise<void> {
    for (const event of events) {
      if (event.length > SHORT_LENGTH) await assertParseable(Buffer.from(event))
      this.#takeOne(event)
    }
  }

  readonly #takeOne = (event: string) => {
    this.#keptBytes += this.#take(parsed(event))
    if (this.#keptBytes > MAX_DOCUMENT_BYTES) throw tooLong()
  }
}

const parsed = (event: string): unknown => {
  if (event.trim() === DONE) return DONE
  try {
    return JSON.parse(event)
  } catch {
    // The error of the parser would quote the event.
    throw new Error('an event of the answer is not JSON')
  }
}
