import { uploadKey } from '../../../projections/uploads.ts'
import type { PresignRequest } from '../../../schemas/api/upload.ts'
import { type AccountId, MAX_PRESIGNED_BYTES, type UploadId } from '../../../schemas/primitives.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import { listNewest, type Page } from '../../engine/views/list-newest.ts'
import type { Reads } from '../../engine/views/reads.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { ApiError } from '../api-error.ts'
import { type Asker, causeOf } from '../asker.ts'
import { isUploadId } from '../ids.ts'
import { type IncomingUpload, receiveUpload } from './incoming-upload.ts'
import type { UploadGrants } from './upload-grants.ts'
import { declaredType } from './upload-rules.ts'
import type { UploadSettlement } from './upload-settlement.ts'

export interface UploadsParts {
  reads: Reads
  accounts: Accounts
  objects: ObjectStore
  settlement: UploadSettlement
  grants: UploadGrants
  /** How long a presigned grant can be used. */
  grantMs: number
}

/** Takes files from clients, and knows what they have sent. */
export class Uploads {
  readonly #parts: UploadsParts

  constructor(parts: UploadsParts) {
    this.#parts = parts
  }

  /** Begins to take a file in. */
  receive(): Promise<IncomingUpload> {
    return receiveUpload(this.#parts)
  }

  /** Gives an address to which the client may send a file by itself. Rejects with ApiError or Unavailable. */
  async presign(asker: Asker, { filename, folder_path, mime_type, size_bytes = 1 }: PresignRequest) {
    const mimeType = declaredType(mime_type)
    if (mimeType === undefined)
      throw new ApiError('unsupported_media_type', `${mime_type} says nothing of the file; give the type that it has.`)
    if (size_bytes > MAX_PRESIGNED_BYTES)
      throw new ApiError('payload_too_large', `A file may have ${MAX_PRESIGNED_BYTES} bytes at the most.`, {
        errors: [{ path: '/size_bytes', message: `must be at most ${MAX_PRESIGNED_BYTES}` }],
      })
    const { grants, objects, grantMs } = this.#parts
    const form = { filename, ...(folder_path !== undefined && { folder_path }) }
    const terms = { method: 'presigned', form, mimeType, grantMs, maxSizeBytes: MAX_PRESIGNED_BYTES } as const
    const { upload } = await grants.give(asker, terms)
    const { objectKey: key, maxSizeBytes, expiresAt } = upload
    const expiresAtMs = Date.parse(expiresAt)
    return { upload, presignedUrl: await objects.presignPut({ key, mimeType, maxSizeBytes, expiresAtMs }) }
  }

  /**
   * An account's own upload. One that was granted is looked at, for its file may have come. Rejects with ApiError where
   * there is none, or where the file cannot be taken.
   */
  async find(asker: Asker, id: string): Promise<UploadRow> {
    const row = await this.#row(asker.accountId, id)
    return this.#arrived(asker, row)
  }

  /** The same for the upload whose file lies under a key. */
  async findByKey(asker: Asker, objectKey: string): Promise<UploadRow> {
    const { reads } = this.#parts
    await reads.ownWrites(asker.accountId)
    const [entry] = await reads.list('uploads', 'byObject', { prefix: objectKey, limit: 1 })
    // A key may be the beginning of another.
    const isOwn = entry?.place === objectKey && entry.row.accountId === asker.accountId
    return this.#arrived(asker, isOwn ? entry.row : undefined)
  }

  /** A page of an account's uploads whose files have come, the newest first. */
  list(
    accountId: AccountId,
    { limit, cursor }: { limit: number; cursor?: UploadId },
  ): Promise<Page<UploadRow, UploadId>> {
    const matches = ({ status }: UploadRow) => status === 'stored'
    return listNewest(this.#parts.reads, 'uploads', accountId, { limit, cursor, matches })
  }

  /** Deletes an account's own upload, and resolves to its id. Rejects with ApiError where there is none. */
  async delete(asker: Asker, id: string): Promise<UploadId> {
    const { accounts, objects, settlement } = this.#parts
    const cause = causeOf(asker)
    const row = await this.#row(asker.accountId, id)
    if (!row || row.status === 'deleting') throw noSuchUpload()
    const { uploadId } = row
    const outcome = await accounts.execute(asker.accountId, { type: 'RequestUploadDeletion', uploadId }, cause)
    if ('refuse' in outcome) throw noSuchUpload()
    // Where another file may still come, the last word is left to the end of the grant.
    if (row.sealed) await settlement.remove(row, 'requested', cause)
    else await objects.delete(row.objectKey)
    return uploadId
  }

  /** An upload whose file is there. */
  async #arrived(asker: Asker, row: UploadRow | undefined): Promise<UploadRow> {
    if (!row || row.status === 'deleting') throw noSuchUpload()
    if (row.status === 'stored') return row
    const found = await this.#parts.settlement.settle(row, causeOf(asker))
    if (!found)
      throw noSuchUpload('There is no file yet, or it was refused and deleted. Send one with PUT to its presigned_url.')
    const { sizeBytes, sha256 } = found
    return { ...row, status: 'stored', sizeBytes, sha256 }
  }

  async #row(accountId: AccountId, id: string): Promise<UploadRow | undefined> {
    return isUploadId(id) ? this.#parts.reads.getOwn(accountId, 'uploads', uploadKey(accountId, id)) : undefined
  }
}

/** The same for an upload that is absent and for one of somebody else. */
const noSuchUpload = (message = 'There is no such upload, or no longer.') => new ApiError('upload_not_found', message)
