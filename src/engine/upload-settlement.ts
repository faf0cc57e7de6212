import type { UploadDeleted } from '../../schemas/account-events.ts'
import type { UploadRow } from '../../schemas/views.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Accounts } from './accounts.ts'
import { ApiError } from './api-error.ts'
import { type Inspected, inspect } from './inspection.ts'
import type { Cause } from './stream.ts'
import { faultOf, sendingFault } from './upload-rules.ts'

type Upload = Pick<UploadRow, 'accountId' | 'uploadId' | 'objectKey' | 'mimeType' | 'maxSizeBytes'>

/** What has come of grants: the file is looked at, and is either stored from then on or taken away. */
export class UploadSettlement {
  readonly #accounts: Accounts
  readonly #objects: ObjectStore

  constructor(accounts: Accounts, objects: ObjectStore) {
    this.#accounts = accounts
    this.#objects = objects
  }

  /**
   * Looks at a file whose address may still be written to. Resolves to what it is, or to undefined when none has come. One that cannot
   * be taken is deleted, and rejects with ApiError; another may then be sent in its place.
   */
  async settle(upload: Upload, cause: Cause): Promise<Inspected | undefined> {
    const found = await this.#look(upload)
    if (!found) return undefined
    if ('refused' in found) {
      await this.#objects.delete(upload.objectKey)
      throw found.refused
    }
    await this.#store(upload, found, false, cause)
    return found
  }

  /** Looks at a file that nobody can replace any longer, and records for good what has come. */
  async seal(upload: Upload, cause: Cause): Promise<void> {
    const found = await this.#look(upload)
    if (!found) return this.remove(upload, 'never_sent', cause)
    if (!('refused' in found)) return this.#store(upload, found, true, cause)
    const reason = found.refused.code === 'payload_too_large' ? 'too_large' : 'unsupported_type'
    return this.remove(upload, reason, cause)
  }

  /** Takes a file away, and records that when it is gone. To be repeated after a crash. */
  async remove(
    { accountId, uploadId, objectKey }: Upload,
    reason: UploadDeleted['reason'],
    cause: Cause,
  ): Promise<void> {
    await this.#objects.delete(objectKey)
    // A refusal means that another process has recorded it.
    await this.#accounts.execute(accountId, { type: 'RecordUploadDeletion', upload: { uploadId, reason } }, cause)
  }

  async #look({ objectKey, mimeType, maxSizeBytes }: Upload): Promise<Inspected | { refused: ApiError } | undefined> {
    const object = await this.#objects.get(objectKey)
    if (!object) return undefined
    if (object.sizeBytes > maxSizeBytes) {
      object.body.destroy()
      const message = `The file has ${object.sizeBytes} bytes, and ${maxSizeBytes} is the most.`
      return { refused: new ApiError('payload_too_large', message) }
    }
    const inspected = await inspect(object.body)
    const fault = faultOf(inspected, mimeType) ?? sendingFault(object.sentAs, mimeType)
    return fault === undefined ? inspected : { refused: new ApiError('unsupported_media_type', fault) }
  }

  /** A refusal means that another process was first, or that the upload is gone: the views will show it. */
  async #store({ accountId, uploadId }: Upload, { sizeBytes, sha256 }: Inspected, sealed: boolean, cause: Cause) {
    const upload = { uploadId, sizeBytes, sha256, sealed }
    await this.#accounts.execute(accountId, { type: 'StoreUpload', upload }, cause)
  }
}
