import { createHmac } from 'node:crypto'
import type { RunId } from '../../../schemas/primitives.ts'
import { extensionFor, fileExtensions } from '../../domain/media-types.ts'
import type { Folder } from '../../ports/object-store.ts'
import { deriveKey } from '../derive-key.ts'

/** The most files of a run: the images of the largest request and a text, twice over. Their keys are listed. */
export const MAX_OUTPUT_FILES = 16

/**
 * The keys of the files of runs. Run and index determine the key, so that a process that stores a result again finds
 * the same place. Each key has 128 bits that only the service can compute, so that nobody can guess an address.
 */
export class OutputKeys {
  readonly #secret: Buffer

  constructor(masterSecret: string) {
    this.#secret = deriveKey(masterSecret, 'outputs')
  }

  keyOf(runId: RunId, index: number, mimeType: string): string {
    return `${this.#stemOf(runId, index)}.${extensionFor(mimeType)}`
  }

  /** Every key that a file of a run can have. */
  allOf(runId: RunId): string[] {
    const stems = Array.from({ length: MAX_OUTPUT_FILES }, (_, index) => this.#stemOf(runId, index))
    return stems.flatMap(stem => fileExtensions.map(extension => `${stem}.${extension}`))
  }

  #stemOf(runId: RunId, index: number): string {
    const code = createHmac('sha256', this.#secret).update(`${runId}/${index}`).digest('hex').slice(0, 32)
    return `${'outputs' satisfies Folder}/${code}`
  }
}
