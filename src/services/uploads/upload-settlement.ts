import type { UploadDeleted } from '../../../schemas/account-events.ts'
import type { UploadId } from '../../../schemas/primitives.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import { isLate } from '../../domain/account/uploads.ts'
import type { ContentRefusal, FileRefusal } from '../../domain/refusal.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Caller, keyIdOf } from '../caller.ts'
import { type InspectionResult, inspect } from './inspection.ts'
import { contentRefusal, sentTypeRefusal } from './upload-rules.ts'

/** Undefined if no file has arrived. */
type Settled = InspectionResult | { refuse: FileRefusal } | undefined

type Upload = Pick<UploadRow, 'accountId' | 'uploadId' | 'objectKey' | 'mimeType' | 'maxSizeBytes'>

/** Inspects files that arrived for grants, and records or deletes them. */
export class UploadSettlement {
  readonly #accounts: AccountMailboxes
  readonly #objects: ObjectStore
  /** Inspections in progress. Reading a large file takes long, and any number of requests may ask for it. */
  readonly #settling = new Map<UploadId, Promise<Settled>>()

  constructor(accounts: AccountMailboxes, objects: ObjectStore) {
    this.#accounts = accounts
    this.#objects = objects
  }

  /**
   * Inspects a file that can still be replaced. Resolves to undefined if no file has arrived. An unacceptable file is
   * deleted and refused, and the client may send another. Refuses an upload whose deletion was requested in the
   * meantime. Concurrent calls share one inspection.
   */
  settle(caller: Caller, upload: Upload): Promise<Settled> {
    const { uploadId } = upload
    const settling = this.#settling.get(uploadId)
    if (settling) return settling
    const settled = this.#settle(caller, upload).finally(() => this.#settling.delete(uploadId))
    this.#settling.set(uploadId, settled)
    return settled
  }

  async #settle(caller: Caller, upload: Upload): Promise<Settled> {
    const found = await this.#inspect(upload)
    if (!found) return undefined
    if ('refuse' in found) {
      // A valid file may have replaced the invalid file during the inspection.
      if ((await this.#objects.stat(upload.objectKey))?.etag !== found.etag) return this.#settle(caller, upload)
      await this.#objects.delete(upload.objectKey)
      return { refuse: found.refuse }
    }
    const outcome = await this.store(caller, upload, found, false)
    return 'refuse' in outcome && outcome.refuse.code === 'upload_not_found' ? { refuse: outcome.refuse } : found
  }

  /** Inspects a file that can no longer be replaced, and records the final outcome. */
  async seal(caller: Caller, upload: Upload): Promise<void> {
    const found = await this.#inspect(upload)
    if (!found) return this.#end(caller, upload)
    if ('refuse' in found) return this.remove(caller, upload, reasonOf(found.refuse))
    await this.store(caller, upload, found, true)
  }

  /**
   * Records that a file has arrived, and whether it can still be replaced. A refusal means that another process was
   * faster, that the upload is gone (the views will show it), or that the caller's key was revoked.
   */
  store(caller: Caller, { accountId, uploadId }: Upload, { sizeBytes, sha256 }: InspectionResult, sealed: boolean) {
    const upload = { uploadId, sizeBytes, sha256, sealed }
    return this.#accounts.execute(caller, accountId, { type: 'StoreUpload', keyId: keyIdOf(caller), upload })
  }

  /**
   * Deletes the file of an upload unless the upload is recorded as stored. The log decides before the file is touched,
   * and due work finishes the deletion after a crash.
   */
  async withdraw(caller: Caller, upload: Upload): Promise<void> {
    const { accountId, uploadId } = upload
    const command = { type: 'RequestUploadDeletion', uploadId, unlessStored: true } as const
    const outcome = await this.#accounts.execute(caller, accountId, command)
    if ('refuse' in outcome && outcome.refuse.code === 'upload_already_stored') return
    await this.remove(caller, upload, 'requested')
  }

  /** Deletes a file, and then records its deletion. Must be repeated after a crash. */
  async remove(
    caller: Caller,
    { accountId, uploadId, objectKey }: Upload,
    reason: UploadDeleted['reason'],
  ): Promise<void> {
    await this.#objects.delete(objectKey)
    // A refusal means that another process has recorded the deletion.
    await this.#accounts.execute(caller, accountId, { type: 'RecordUploadDeletion', upload: { uploadId, reason } })
  }

  /**
   * Records that no file has arrived, and then deletes any file that arrived in the meantime. After the record, no file
   * can be recorded as stored. If one already was, the record is refused and the file stays.
   */
  async #end(caller: Caller, { accountId, uploadId, objectKey }: Upload): Promise<void> {
    const upload = { uploadId, reason: 'never_sent' } as const
    const outcome = await this.#accounts.execute(caller, accountId, { type: 'RecordUploadDeletion', upload })
    if ('accept' in outcome) await this.#objects.delete(objectKey)
  }

  /** Undefined if no file has arrived in time. A late file is deleted. */
  async #inspect(upload: Upload): Promise<InspectionResult | Unacceptable | undefined> {
    const { accountId, uploadId, objectKey, mimeType, maxSizeBytes } = upload
    const object = await this.#objects.get(objectKey)
    if (!object) return undefined
    const { etag, sizeBytes, storedAtMs } = object
    if (isLate(uploadId, storedAtMs, await this.#accounts.currentState(accountId))) {
      object.body.destroy()
      await this.#objects.delete(objectKey)
      return undefined
    }
    if (sizeBytes > maxSizeBytes) {
      object.body.destroy()
      return { refuse: { code: 'file_too_large', sizeBytes, limitBytes: maxSizeBytes }, etag }
    }
    const inspected = await inspect(object.body)
    const refusal = contentRefusal(inspected, mimeType) ?? sentTypeRefusal(object.contentType, mimeType)
    return refusal ? { refuse: refusal, etag } : inspected
  }
}

interface Unacceptable {
  refuse: ContentRefusal
  etag: string
}

const reasonOf = ({ code }: ContentRefusal) => (code === 'file_too_large' ? 'too_large' : 'unsupported_type')
