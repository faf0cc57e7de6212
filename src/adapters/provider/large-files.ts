import { randomBytes } from 'node:crypto'
import { base64Length, DATA_URL, encodeInSlices, toBase64 } from '../../json/base64.ts'
import { LongDocument, MIN_LARGE_BYTES, WORK_BYTES } from '../../json/long-document.ts'
import { yieldToEventLoop } from '../../json/turns.ts'
import type { ArrivingFile, Contents, OpenFile } from '../../ports/provider.ts'
import type { LongBody, ReadLong, VendorAnswer, VendorRequest } from '../../ports/vendor-request.ts'
import { answerLimits } from './json-limits.ts'

const isOfText = ({ 'content-type': type = '' }: VendorAnswer['headers']) => /^(text\/|application\/json)/i.test(type)

/** Whether a response is a file. Some vendors, and proxies, respond with text in its place. */
export const isFile = ({ headers, body }: Pick<VendorAnswer, 'headers' | 'body'>): boolean =>
  body.byteLength > 0 && !isOfText(headers)

/**
 * The large files of a call, which vendors send and take as Base64 in JSON. Writing and parsing such a document would
 * block all other requests, so only a short document, with a name in place of each file, is written and parsed. The
 * names are random, so neither a client nor a vendor can forge one.
 */
export class LargeFiles {
  readonly #inputs = new Map<string, Uint8Array>()
  readonly #outputs = new Map<string, ArrivingFile>()
  readonly #openFile: OpenFile | undefined
  readonly #place: RegExp | undefined

  /**
   * `place` matches the text before the Base64 of a file in a response. Without it, the whole response is a file; also
   * without `openFile`, responses have no files.
   */
  constructor(openFile?: OpenFile, place?: RegExp) {
    this.#openFile = openFile
    this.#place = place
  }

  /** The Base64 of a file in a request. */
  toBase64(bytes: Uint8Array): string {
    return bytes.byteLength < MIN_LARGE_BYTES ? toBase64(bytes) : named(this.#inputs, bytes)
  }

  /** The file in a response. Some servers write a whole data: URL instead of Base64. */
  fromBase64(text: string): Contents {
    const base64 = text.replace(DATA_URL, '')
    const file = this.#outputs.get(base64)
    return file ? { file } : { bytes: Buffer.from(base64, 'base64') }
  }

  /** The file that is a response. */
  fromBody(body: Buffer): Contents {
    const file = body.length === NAME_LENGTH ? this.#outputs.get(body.toString('latin1')) : undefined
    return file ? { file } : { bytes: body }
  }

  /** For another call, whose response is a file. */
  forFile(): LargeFiles {
    return new LargeFiles(this.#openFile)
  }

  /** Replaces the names in a request with their files. */
  insert(request: VendorRequest): VendorRequest {
    const { headers, body } = request
    if (this.#inputs.size === 0 || typeof body !== 'string') return request
    return { ...request, ...this.inPieces(headers, [body]) }
  }

  /** The headers and the body of a request whose text comes in pieces, each with whole names. */
  inPieces(headers: VendorRequest['headers'], texts: string[]): Pick<VendorRequest, 'headers' | 'body'> {
    const names = this.#inputs.size > 0 && new RegExp(`(${[...this.#inputs.keys()].join('|')})`)
    const split = names ? texts.flatMap(text => text.split(names)) : texts
    const pieces = split.map(piece => this.#inputs.get(piece) ?? piece)
    const sizes = pieces.map(piece => (typeof piece === 'string' ? Buffer.byteLength(piece) : base64Length(piece)))
    // States the length, since some servers accept no body in chunks.
    const length = String(sizes.reduce((sum, size) => sum + size, 0))
    return { headers: { ...headers, 'content-length': length }, body: inTurns(pieces) }
  }

  /** Replaces the files in a long response with names. */
  readonly read: ReadLong = headers => {
    const openFile = this.#openFile
    if (openFile && !this.#place && !isOfText(headers)) {
      const file = openFile()
      return new LongFile(named(this.#outputs, file), file)
    }
    const open = () => {
      const file = (openFile as OpenFile)()
      return { file, name: () => named(this.#outputs, file) }
    }
    return new LongDocument({ ...answerLimits, place: this.#place, openFile: open })
  }
}

/** A response that is a file. Leaves its name. */
class LongFile implements LongBody {
  readonly heldBytes = WORK_BYTES
  readonly #name: string
  readonly #file: ArrivingFile

  constructor(name: string, file: ArrivingFile) {
    this.#name = name
    this.#file = file
  }

  write(bytes: Buffer): Promise<void> | undefined {
    return this.#file.write(bytes)
  }

  async end(): Promise<Buffer<ArrayBuffer>> {
    await this.#file.end()
    return Buffer.from(this.#name)
  }
}

const NAME_LENGTH = 32

/** Names a file with Base64 characters, for clients that check. */
const named = <File>(files: Map<string, File>, file: File): string => {
  const name = randomBytes(NAME_LENGTH / 2).toString('hex')
  files.set(name, file)
  return name
}

async function* inTurns(pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      await yieldToEventLoop()
      yield Buffer.from(piece)
    } else yield* encodeInSlices(piece)
  }
}
