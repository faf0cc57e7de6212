import type { UploadDeleted } from '../../../schemas/account-events.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import type { Cause } from '../../engine/streams/stream.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { ApiError } from '../api-error.ts'
import { type Inspected, inspect } from './inspection.ts'
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
    if ('fault' in found) {
      // A good file may have come in the place of the bad one, while that was looked at.
      if ((await this.#objects.stat(upload.objectKey))?.etag !== found.etag) return this.settle(upload, cause)
      await this.#objects.delete(upload.objectKey)
      throw new ApiError(codes[found.reason], found.fault)
    }
    await this.store(upload, found, false, cause)
    return found
  }

  /** Looks at a file that nobody can replace any longer, and records for good what has come. */
  async seal(upload: Upload, cause: Cause): Promise<void> {
    const found = await this.#look(upload)
    if (!found) return this.remove(upload, 'never_sent', cause)
    if ('fault' in found) return this.remove(upload, found.reason, cause)
    await this.store(upload, found, true, cause)
  }

  /**
   * Records that a file is there, and whether nobody can replace it any longer. A refusal means that another process was
   * first, or that the upload is gone: the views will show it.
   */
  store({ accountId, uploadId }: Upload, { sizeBytes, sha256 }: Inspected, sealed: boolean, cause: Cause) {
    const upload = { uploadId, sizeBytes, sha256, sealed }
    return this.#accounts.execute(accountId, { type: 'StoreUpload', upload }, cause)
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

  async #look({ objectKey, mimeType, maxSizeBytes }: Upload): Promise<Inspected | Faulty | undefined> {
    const object = await this.#objects.get(objectKey)
    if (!object) return undefined
    const { etag } = object
    if (object.sizeBytes > maxSizeBytes) {
      object.body.destroy()
      return {
        reason: 'too_large',
        fault: `The file has ${object.sizeBytes} bytes, and ${maxSizeBytes} is the most.`,
        etag,
      }
    }
    const inspected = await inspect(object.body)
    const fault = faultOf(inspected, mimeType) ?? sendingFault(object.contentType, mimeType)
    return fault === undefined ? inspected : { reason: 'unsupported_type', fault, etag }
  }
}

/** A file that cannot be taken: why, for the log and for the client. */
interface Faulty {
  reason: 'too_large' | 'unsupported_type'
  fault: string
  etag: string
}

const codes = { too_large: 'payload_too_large', unsupported_type: 'unsupported_media_type' } as const
