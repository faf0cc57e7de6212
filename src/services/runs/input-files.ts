import { type FileRefusal, refuse } from '../../domain/refusal.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Addresses } from '../addresses.ts'
import type { Refused } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import { isUploadKey } from '../object-keys.ts'
import type { UploadFinder } from '../uploads/upload-finder.ts'

interface Parts {
  addresses: Addresses
  objects: ObjectStore
  uploads: UploadFinder
}

/** Checks that the files of this service in an input are usable, before a run is accepted and charged. */
export class InputFiles {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Refuses an input whose `image_url` names an unusable file of this service. The run itself loads other addresses.
   */
  async check(caller: AccountCaller, { image_url: address }: Record<string, unknown>): Promise<Refused | undefined> {
    const key = typeof address === 'string' ? this.#parts.addresses.keyOf(address) : undefined
    if (key === undefined) return undefined
    const reason = isUploadKey(key) ? await this.#uploadRefusal(caller, key) : await this.#objectRefusal(key)
    return reason && refuse('input_file_refused', { reason })
  }

  /** Another account's file is treated as absent. */
  async #uploadRefusal(caller: AccountCaller, key: string): Promise<FileRefusal | undefined> {
    const found = await this.#parts.uploads.byKey(caller, key)
    if ('refuse' in found) return found.refuse
    const { mimeType, maxSizeBytes } = found.value
    if (!mimeType.startsWith('image/')) return { code: 'file_not_image', mimeType }
    // Until the upload is sealed, another file may have replaced the one that was inspected.
    return this.#objectRefusal(key, maxSizeBytes)
  }

  async #objectRefusal(key: string, limitBytes = Number.POSITIVE_INFINITY): Promise<FileRefusal | undefined> {
    const facts = await this.#parts.objects.stat(key)
    if (!facts) return { code: 'file_not_found' }
    return facts.sizeBytes > limitBytes ? { code: 'file_over_limit', limitBytes } : undefined
  }
}
