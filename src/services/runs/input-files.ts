import type { ObjectStore } from '../../ports/object-store.ts'
import type { Addresses } from '../addresses.ts'
import { ApiError } from '../api-error.ts'
import type { Asker } from '../asker.ts'
import { isUploadKey } from '../uploads/object-keys.ts'
import type { Uploads } from '../uploads/uploads.ts'

interface Parts {
  addresses: Addresses
  objects: ObjectStore
  uploads: Uploads
}

/** Looks after the files of ours that inputs lead to, before a run is accepted and paid for. */
export class InputFiles {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Rejects with ApiError when an input's `image_url` leads to a file of ours that cannot be used. */
  async check(asker: Asker, { image_url: address }: Record<string, unknown>): Promise<void> {
    const key = typeof address === 'string' ? this.#parts.addresses.keyOf(address) : undefined
    if (key === undefined) return
    const fault = isUploadKey(key) ? await this.#uploadFault(asker, key) : await this.#objectFault(key)
    if (fault)
      throw new ApiError('invalid_input', `image_url cannot be used. ${fault}`, {
        errors: [{ path: '/input/image_url', message: fault }],
      })
  }

  /** A file of somebody else is as if it were not there. */
  async #uploadFault(asker: Asker, key: string): Promise<string | undefined> {
    try {
      const upload = await this.#parts.uploads.findByKey(asker, key)
      if (!upload.mimeType.startsWith('image/')) return `The file is ${upload.mimeType}, and not an image.`
      // Until it is sealed, another file may have come in its place since it was looked at.
      return await this.#objectFault(key, upload.maxSizeBytes)
    } catch (error) {
      if (error instanceof ApiError) return error.message
      throw error
    }
  }

  async #objectFault(key: string, maxSizeBytes = Number.POSITIVE_INFINITY): Promise<string | undefined> {
    const facts = await this.#parts.objects.stat(key)
    if (!facts) return 'There is no such file here, or no longer.'
    return facts.sizeBytes > maxSizeBytes ? `The file has more than ${maxSizeBytes} bytes.` : undefined
  }
}
