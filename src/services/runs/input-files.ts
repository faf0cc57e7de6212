import { type FileKind, type FileParameter, type FilePlace, fileKindAt, filesIn } from '../../domain/catalog/inputs.ts'
import { httpUrlFault, isHttp } from '../../domain/http-url.ts'
import { mimeTypeOf, specificType } from '../../domain/media-types.ts'
import { type FileRefusal, refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { Refused } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import { type Addresses, isUploadKey } from '../files/addresses.ts'
import { inspect } from '../uploads/inspection.ts'
import type { UploadFinder } from '../uploads/upload-finder.ts'
import { inputRefusal } from '../uploads/upload-rules.ts'
import { attachmentAt, type LabelledAttachment, NO_ATTACHMENTS } from './attachments.ts'
import { decodeDataUrl, slicesOf } from './input-media.ts'

interface Dependencies {
  addresses: Addresses
  objects: ObjectStore
  outbound: Outbound
  uploads: UploadFinder
  clock: Clock
}

/** Checks the files in an input, as far as that needs no request, before a run is accepted and charged. */
export class InputFiles {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Refuses an input whose address of a file holds no usable file, names an unusable one of this service, names a host
   * that is not public, or can never be requested. The run itself loads other addresses. An endpoint may take any text.
   * A file that has arrived with the request is checked already.
   */
  async check(
    caller: AccountCaller,
    input: Record<string, unknown>,
    attachments = NO_ATTACHMENTS,
    arrived?: FileParameter,
  ): Promise<Refused | undefined> {
    for (const { place, url } of filesIn(input)) {
      if (place === arrived) continue
      const attachment = attachmentAt(url, attachments)
      const refused = attachment ? attachmentRefusal(attachment, place) : await this.#check(caller, place, url)
      if (refused) return refused
    }
    return undefined
  }

  async #check(caller: AccountCaller, parameter: FilePlace, address: string): Promise<Refused | undefined> {
    const { addresses, outbound, clock } = this.#dependencies
    const kind = fileKindAt(parameter)
    const key = addresses.keyOf(address)
    const isData = /^data:/i.test(address)
    if (key === undefined && !isData) {
      const fault = isHttp(address) ? httpUrlFault(address) : undefined
      if (fault) return refuse('file_url_invalid', { parameter, fault })
      return outbound.refuses(address) ? refuse('address_not_public', { parameter }) : undefined
    }
    const reason =
      key === undefined ? await dataRefusal(address, kind, clock) : await this.#keyRefusal(caller, key, kind)
    return reason && refuse('input_file_refused', { parameter, reason })
  }

  async #keyRefusal(caller: AccountCaller, key: string, kind: FileKind): Promise<FileRefusal | undefined> {
    if (isUploadKey(key)) return this.#uploadRefusal(caller, key, kind)
    return (await this.#objectRefusal(key)) ?? typeRefusal(mimeTypeOf(key), kind)
  }

  /** Another account's file is treated as absent. */
  async #uploadRefusal(caller: AccountCaller, key: string, kind: FileKind): Promise<FileRefusal | undefined> {
    const found = await this.#dependencies.uploads.byKey(caller, key)
    if ('refuse' in found) return found.refuse
    const { mimeType, maxSizeBytes } = found.value
    // Until the upload is sealed, another file may have replaced the inspected file.
    return typeRefusal(mimeType, kind) ?? this.#objectRefusal(key, maxSizeBytes)
  }

  async #objectRefusal(key: string, limitBytes = Number.POSITIVE_INFINITY): Promise<FileRefusal | undefined> {
    const facts = await this.#dependencies.objects.stat(key)
    if (!facts) return { code: 'file_not_found' }
    return facts.sizeBytes > limitBytes ? { code: 'file_over_limit', limitBytes } : undefined
  }
}

const attachmentRefusal = ({ inspected, label }: LabelledAttachment, parameter: FilePlace): Refused | undefined => {
  const reason = inputRefusal(inspected, fileKindAt(parameter), label)
  return reason && refuse('input_file_refused', { parameter, reason })
}

/** The run inspects files whose name shows no type. */
const typeRefusal = (mimeType: string, kind: FileKind): FileRefusal | undefined =>
  mimeType.startsWith(`${kind}/`) || specificType(mimeType) === undefined
    ? undefined
    : { code: 'file_of_other_kind', kind, mimeType }

const dataRefusal = async (address: string, kind: FileKind, clock: Clock): Promise<FileRefusal | undefined> => {
  // A video is too large for an input.
  if (kind === 'video') return { code: 'data_url_unusable', kind }
  const media = await decodeDataUrl(address).catch(() => undefined)
  if (!media) return { code: 'data_url_unusable', kind }
  return inputRefusal(await inspect(slicesOf(media.bytes, clock)), kind, media.mimeType)
}
