import { fileTypeFromBuffer } from 'file-type'
import { commonName, essenceOf } from '../../domain/media-types.ts'
import { withoutTexts } from './picture-text.ts'

/** The bytes that file-type needs to detect every type. */
const HEAD_BYTES = 4_100

/** PDF readers look for their marker in this many bytes. Browsers look for HTML in about as many. */
const MARK_BYTES = 1_024

/** The first bytes of a streamed file, which show its type. */
export class FileHead {
  readonly #bytes = Buffer.alloc(HEAD_BYTES)
  #sizeBytes = 0

  /** Takes the next bytes of the file, and counts them. */
  update(chunk: Uint8Array) {
    if (this.#sizeBytes < HEAD_BYTES) this.#bytes.set(chunk.subarray(0, HEAD_BYTES - this.#sizeBytes), this.#sizeBytes)
    this.#sizeBytes += chunk.byteLength
  }

  /** The size of the file so far. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#sizeBytes)
  }

  /** The detected type; undefined if it is unknown. */
  async mimeType(): Promise<string | undefined> {
    const found = await fileTypeFromBuffer(this.bytes)
    return found && commonName(essenceOf(found.mime))
  }

  /** A kind of document that readers or browsers could take the file for, despite its type. */
  get mark(): string | undefined {
    const head = this.bytes.subarray(0, MARK_BYTES)
    const page = pageMark.test(withoutTexts(head).toString('latin1')) ? 'a web page' : undefined
    return page ?? marks.find(([mark]) => mark.test(head.toString('latin1')))?.[1]
  }
}

/** Browsers look for no page within a picture, so the texts in its metadata may mention tags. */
const pageMark = /<(!doctype html|html|head|body|script|iframe|svg)[\s>/]/i

const marks: [RegExp, string][] = [
  [/%PDF-/, 'a PDF document'],
  [/<\?php/i, 'a PHP script'],
]
