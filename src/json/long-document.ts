import type { ArrivingFile } from '../ports/provider.ts'
import type { LongBody } from '../ports/vendor-request.ts'
import { Base64Decoder, DATA_URL, SLICE_BYTES, sliceEnd } from './base64.ts'
import { yieldToEventLoop } from './turns.ts'

/** Smaller files are decoded and parsed within a millisecond as part of their documents. */
export const MIN_LARGE_BYTES = 64 * 1024

/** The longest start of a data: URL, and the longest name of a field before it. */
const MAX_LEAD = 256

/** The memory of a file that is being decoded: a slice of its text, and the bytes of its next batches. */
export const WORK_BYTES = 8 * SLICE_BYTES

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** A file of a document, and its name once it has ended. The name needs no escapes. */
export interface NamedFile {
  file: ArrivingFile
  name(): string
}

interface Options {
  /** Matches the text before the Base64 of a file. Without it, there are no files. */
  place: RegExp | undefined
  openFile(): NamedFile
  /** The most bytes besides the files, and of a text that turns out not to be a file. */
  maxBytes: number
  maxTextBytes: number
  tooLong(): Error
  /** Checks the document at its end. */
  check?(document: Buffer): Promise<void>
}

/** A file that is being decoded. */
interface OpenedFile extends NamedFile {
  decoder: Base64Decoder
  /** The document before the file. Its text follows, in case that it turns out not to be a file. */
  before: { pieces: number; sizeBytes: number }
  /** Whether its text was too long to be kept. */
  isLong: boolean
}

/**
 * Reads a JSON document as it arrives. Decodes its large files and puts names in their place. Rejects if the rest is
 * too long to parse.
 *
 * Looks at the text between two quotes, the first without a backslash. In JSON, this is a whole string, or contains a
 * character that Base64 does not have: a backslash, or the characters between two strings.
 */
export class LongDocument implements LongBody {
  readonly #options: Options
  readonly #arrived: Buffer[] = []
  #arrivedBytes = 0
  /** Bytes that were not searched yet. They begin with the text before the quote where the search continues. */
  #pending: Buffer = Buffer.alloc(0)
  readonly #document: Buffer[] = []
  #documentBytes = 0
  #file: OpenedFile | undefined

  constructor(options: Options) {
    this.#options = options
  }

  get heldBytes(): number {
    return this.#documentBytes + this.#pending.length + this.#arrivedBytes + WORK_BYTES
  }

  write(bytes: Buffer): Promise<void> | undefined {
    this.#arrived.push(bytes)
    this.#arrivedBytes += bytes.length
    return this.#arrivedBytes < SLICE_BYTES ? undefined : this.#process(false)
  }

  async end(): Promise<Buffer<ArrayBuffer>> {
    await this.#process(true)
    const document = Buffer.concat(this.#document)
    await this.#options.check?.(document)
    return document
  }

  async #process(isEnd: boolean): Promise<void> {
    this.#pending = Buffer.concat([this.#pending, ...this.#arrived.splice(0)])
    this.#arrivedBytes = 0
    while (this.#file ? await this.#decode(this.#file, isEnd) : this.#search(isEnd));
  }

  /** Passes on the text before the next file. False if there is no file yet. */
  #search(isEnd: boolean): boolean {
    const pending = this.#pending
    const { place } = this.#options
    let quote = place ? pending.indexOf(QUOTE) : -1
    while (quote !== -1 && pending.length - quote > MIN_LARGE_BYTES) {
      const near = pending.lastIndexOf(QUOTE, quote + MIN_LARGE_BYTES)
      const start = near > quote ? undefined : fileStart(pending, quote, place as RegExp)
      if (start !== undefined) {
        this.#keep(this.#take(start))
        this.#begin()
        return true
      }
      quote = near > quote ? near : pending.indexOf(QUOTE, quote + 1)
    }
    this.#keep(this.#take(isEnd || quote === -1 ? pending.length : Math.max(0, quote - MAX_LEAD)))
    return false
  }

  #begin() {
    const before = { pieces: this.#document.length, sizeBytes: this.#documentBytes }
    this.#file = { ...this.#options.openFile(), decoder: new Base64Decoder(), before, isLong: false }
  }

  /** Decodes a slice of the file. False if the slice has not arrived. */
  async #decode({ name, file, decoder }: OpenedFile, isEnd: boolean): Promise<boolean> {
    const quote = this.#pending.indexOf(QUOTE)
    if (quote === -1 && this.#pending.length <= SLICE_BYTES && !isEnd) return false
    const isLast = quote !== -1 && quote <= SLICE_BYTES
    const slice = this.#take(isLast ? quote : sliceEnd(this.#pending))
    this.#keep(slice)
    await yieldToEventLoop()
    // Without a quote, the document is cut off.
    const bytes = quote === -1 && isEnd ? undefined : decoder.decode(slice, isLast)
    if (!bytes) this.#keepText()
    else {
      await file.write(bytes)
      if (isLast) {
        await file.end()
        this.#replaceBy(name())
      }
    }
    return true
  }

  #take(sizeBytes: number): Buffer {
    const taken = this.#pending.subarray(0, sizeBytes)
    this.#pending = this.#pending.subarray(sizeBytes)
    return taken
  }

  /** Copies the bytes, because they are a part of a larger piece of memory. */
  #keep(bytes: Buffer) {
    if (this.#file?.isLong) return
    this.#document.push(Buffer.from(bytes))
    this.#documentBytes += bytes.length
    const { maxBytes, maxTextBytes, tooLong } = this.#options
    const textBytes = this.#file ? this.#documentBytes - this.#file.before.sizeBytes : 0
    if (this.#documentBytes <= maxBytes && textBytes <= maxTextBytes) return
    if (!this.#file) throw tooLong()
    this.#file.isLong = true
    this.#dropText(this.#file)
  }

  /** The text was no file, and stays what it is. */
  #keepText() {
    if (this.#file?.isLong) throw this.#options.tooLong()
    this.#file = undefined
  }

  #replaceBy(name: string) {
    this.#dropText(this.#file as OpenedFile)
    this.#file = undefined
    this.#keep(Buffer.from(name))
  }

  #dropText({ before }: OpenedFile) {
    this.#document.length = before.pieces
    this.#documentBytes = before.sizeBytes
  }
}

/** The start of the Base64 in a string; undefined if the string cannot hold a file. */
const fileStart = (document: Buffer, quote: number, place: RegExp): number | undefined => {
  if (document[quote - 1] === BACKSLASH) return undefined
  const scheme = DATA_URL.exec(document.toString('latin1', quote + 1, quote + 1 + MAX_LEAD))?.[0] ?? ''
  const start = quote + 1 + scheme.length
  const isPlace = (at: number) => place.test(document.toString('latin1', Math.max(0, at - MAX_LEAD), at))
  return isPlace(start) || isPlace(quote + 1) ? start : undefined
}
