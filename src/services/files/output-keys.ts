import { createHmac } from 'node:crypto'
import type { RunId } from '../../../schemas/primitives.ts'
import { extensionFor, fileExtensions } from '../../domain/media-types.ts'
import type { Folder } from '../../ports/object-store.ts'
import { deriveKey } from '../derive-key.ts'

/** The most files of a run: twice the images of the largest request and a text. Every possible key is listed. */
export const MAX_OUTPUT_FILES = 16

/** The most parts of an input that are files: its messages and its tools. */
const MAX_INPUT_FILES = 2

/**
 * The keys of run outputs, and of long parts of inputs. The run and the index determine the key, so a process that
 * stores an output again finds the same place. Only the service can compute the 128 bits of a key, so addresses cannot
 * be guessed.
 */
export class OutputKeys {
  readonly #secret: Buffer

  constructor(masterSecret: string) {
    this.#secret = deriveKey(masterSecret, 'outputs')
  }

  keyOf(runId: RunId, index: number, mimeType: string): string {
    return `${this.#stemOf(runId, index)}.${extensionFor(mimeType)}`
  }

  /** The key of a part of a run's input that is too long for an event. */
  inputKeyOf(runId: RunId, index: number): string {
    return this.keyOf(runId, MAX_OUTPUT_FILES + index, 'application/json')
  }

  /** The key of the small copy of a run's first picture. */
  thumbnailOf(runId: RunId): string {
    return `${'thumbnails' satisfies Folder}/${this.#codeOf(`${runId}/thumbnail`)}.webp`
  }

  /** The key of an image in a run's messages. The event that accepts the run holds these keys. */
  imageKeyOf(runId: RunId, index: number, mimeType: string): string {
    return this.keyOf(runId, MAX_OUTPUT_FILES + MAX_INPUT_FILES + index, mimeType)
  }

  /** Every possible key of the long parameters of a run's input. */
  inputsOf(runId: RunId): string[] {
    return Array.from({ length: MAX_INPUT_FILES }, (_, index) => this.inputKeyOf(runId, index))
  }

  /** Every possible key of a run's files, except for images of its messages. */
  allOf(runId: RunId): string[] {
    const stems = Array.from({ length: MAX_OUTPUT_FILES }, (_, index) => this.#stemOf(runId, index))
    const outputs = stems.flatMap(stem => fileExtensions.map(extension => `${stem}.${extension}`))
    return [...outputs, ...this.inputsOf(runId), this.thumbnailOf(runId)]
  }

  #stemOf(runId: RunId, index: number): string {
    return `${'outputs' satisfies Folder}/${this.#codeOf(`${runId}/${index}`)}`
  }

  #codeOf(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('hex').slice(0, 32)
  }
}
