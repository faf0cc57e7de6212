import { Readable } from 'node:stream'
import { httpUrlFault, isHttp } from '../../domain/http-url.ts'
import { type FileRefusal, refuse } from '../../domain/refusal.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { Addresses } from '../addresses.ts'
import type { Refused } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import { isUploadKey } from '../object-keys.ts'
import { inspect } from '../uploads/inspection.ts'
import type { UploadFinder } from '../uploads/upload-finder.ts'
import { contentRefusal } from '../uploads/upload-rules.ts'
import { decodeDataUrl } from './input-media.ts'

interface Parts {
  addresses: Addresses
  objects: ObjectStore
  outbound: Outbound
  uploads: UploadFinder
}

/** Checks the file in an input, as far as that needs no request, before a run is accepted and charged. */
export class InputFiles {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Refuses an input whose `image_url` holds no usable image, names an unusable file of this service, names a host that
   * is not public, or can never be requested. The run itself loads other addresses. An endpoint may take any text.
   */
  async check(caller: AccountCaller, { image_url: address }: Record<string, unknown>): Promise<Refused | undefined> {
    if (typeof address !== 'string') return undefined
    const { addresses, outbound } = this.#parts
    const key = addresses.keyOf(address)
    const isData = /^data:/i.test(address)
    if (key === undefined && !isData) {
      const fault = isHttp(address) ? httpUrlFault(address) : undefined
      if (fault) return refuse('image_url_invalid', { fault })
      return outbound.refuses(address) ? refuse('address_not_public', { parameter: 'image_url' }) : undefined
    }
    const reason = key === undefined ? await dataRefusal(address) : await this.#keyRefusal(caller, key)
    return reason && refuse('input_file_refused', { reason })
  }

  #keyRefusal(caller: AccountCaller, key: string): Promise<FileRefusal | undefined> {
    return isUploadKey(key) ? this.#uploadRefusal(caller, key) : this.#objectRefusal(key)
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

const dataRefusal = async (address: string): Promise<FileRefusal | undefined> => {
  const media = await decodeDataUrl(new URL(address)).catch(() => undefined)
  if (!media) return { code: 'data_url_unusable' }
  const inspected = await inspect(Readable.from([media.bytes]))
  const { mimeType = '' } = inspected
  return contentRefusal(inspected) ?? (mimeType.startsWith('image/') ? undefined : { code: 'file_not_image', mimeType })
}
