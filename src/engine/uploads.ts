import { randomBytes } from 'node:crypto'
import { pipeline, Transform, type Writable } from 'node:stream'
import { uploadKey, uploads as uploadView } from '../../projections/uploads.ts'
import type { UploadGranted } from '../../schemas/account-events.ts'
import type { PresignRequest, UploadForm } from '../../schemas/api/upload.ts'
import { type AccountId, MAX_INLINE_BYTES, MAX_PRESIGNED_BYTES, type UploadId } from '../../schemas/primitives.ts'
import type { UploadRow } from '../../schemas/views.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import { Unavailable } from '../ports/faults.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Accounts } from './accounts.ts'
import { folders } from './addresses.ts'
import { ApiError } from './api-error.ts'
import { type Asker, causeOf } from './asker.ts'
import { newUploadId } from './ids.ts'
import { Inspection } from './inspection.ts'
import { endingFor } from './media-types.ts'
import type { Reads } from './reads.ts'
import { declaredType, faultOf } from './upload-rules.ts'
import type { UploadSettlement } from './upload-settlement.ts'

/** How long an upload through the service may take from its grant to its end; by then its file has come in full. */
const INLINE_GRANT_MS = 60_000

export interface UploadsParts {
  accounts: Accounts
  reads: Reads
  objects: ObjectStore
  settlement: UploadSettlement
  clock: Clock
  /** How long a presigned grant can be used, and how long a file is kept. */
  grantMs: number
  uploadMs: number
}

/** A file on its way through the service. One of `finish` and `discard` is called once. */
export interface ArrivingFile {
  readonly body: Writable
  /** Takes the file on, when all of it has come. Rejects with ApiError or Unavailable; then there is no trace of it. */
  finish(asker: Asker, form: UploadForm, mimeType: string): Promise<UploadRow>
  discard(): Promise<void>
}

/** Takes files from clients, and knows what they have sent. */
export class Uploads {
  readonly #parts: UploadsParts

  constructor(parts: UploadsParts) {
    this.#parts = parts
  }

  /** Begins to take a file in. Nobody sees it before it is finished. */
  async receive(): Promise<ArrivingFile> {
    const incoming = await this.#parts.objects.receive()
    const inspection = new Inspection()
    const body = new Transform({
      transform: (chunk, _encoding, done) => {
        inspection.update(chunk)
        done(null, chunk)
      },
    })
    const written = new Promise<void>((resolve, reject) => {
      pipeline(body, incoming.body, error => (error ? reject(error) : resolve()))
    })
    // Whoever discards the file has no use for the error, and whoever finishes it meets it there.
    written.catch(() => undefined)
    return {
      body,
      discard: () => {
        body.destroy()
        return incoming.discard()
      },
      finish: async (asker, form, mimeType) => {
        const admitted = written.then(() => this.#admit(asker, form, mimeType, inspection))
        const { upload, granted, inspected } = await admitted.catch(async error => {
          await incoming.discard()
          throw error
        })
        await incoming.store(upload.objectKey, mimeType)
        const { uploadId } = upload
        const { sizeBytes, sha256 } = inspected
        const stored = await this.#parts.accounts.execute(
          asker.accountId,
          { type: 'StoreUpload', upload: { uploadId, sizeBytes, sha256, sealed: true } },
          causeOf(asker),
        )
        if ('refuse' in stored) {
          await this.#parts.objects.delete(upload.objectKey)
          throw new Unavailable('the upload took so long that its grant was over')
        }
        return [...granted, ...stored.accept].reduce<UploadRow | undefined>(
          (row, event) => uploadView.evolve(row, event, ''),
          undefined,
        ) as UploadRow
      },
    }
  }

  /** Gives an address to which the client may send a file by itself. Rejects with ApiError or Unavailable. */
  async presign(asker: Asker, { filename, folder_path, mime_type, size_bytes = 1 }: PresignRequest) {
    const mimeType = declaredType(mime_type)
    if (size_bytes > MAX_PRESIGNED_BYTES)
      throw new ApiError('payload_too_large', `A file may have ${MAX_PRESIGNED_BYTES} bytes at the most.`, {
        errors: [{ path: '/size_bytes', message: `must be at most ${MAX_PRESIGNED_BYTES}` }],
      })
    const form = { filename, ...(folder_path !== undefined && { folder_path }) }
    const upload = this.#granted('presigned', form, mimeType, this.#parts.grantMs, MAX_PRESIGNED_BYTES)
    const { objectKey: key, maxSizeBytes, expiresAt } = upload
    const expiresAtMs = Date.parse(expiresAt)
    const presignedUrl = await this.#parts.objects.presignPut({ key, mimeType, maxSizeBytes, expiresAtMs })
    await this.#grant(asker, upload)
    return { upload, presignedUrl }
  }

  /**
   * An account's own upload. One that was granted is looked at, for its file may have come. Rejects with ApiError where
   * there is none, or where the file cannot be taken.
   */
  async find(asker: Asker, uploadId: UploadId): Promise<UploadRow> {
    const row = await this.#row(asker.accountId, uploadId)
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

  /** Deletes an account's own upload. Rejects with ApiError where there is none. */
  async delete(asker: Asker, uploadId: UploadId): Promise<void> {
    const { accounts, objects, settlement } = this.#parts
    const cause = causeOf(asker)
    const row = await this.#row(asker.accountId, uploadId)
    if (!row) throw noSuchUpload()
    const outcome = await accounts.execute(asker.accountId, { type: 'RequestUploadDeletion', uploadId }, cause)
    if ('refuse' in outcome) throw noSuchUpload()
    // Where another file may still come, the last word is left to the end of the grant.
    if (row.sealed) await settlement.remove(row, 'requested', cause)
    else await objects.delete(row.objectKey)
  }

  /** Looks at a file that has come in full. The grant comes first: a file that is there has an owner, whatever happens next. */
  async #admit(asker: Asker, form: UploadForm, mimeType: string, inspection: Inspection) {
    const inspected = await inspection.result()
    const fault = faultOf(inspected, mimeType)
    if (fault) throw new ApiError('unsupported_media_type', fault)
    const upload = this.#granted('inline', form, mimeType, INLINE_GRANT_MS, MAX_INLINE_BYTES)
    return { upload, granted: await this.#grant(asker, upload), inspected }
  }

  /** An upload whose file is there. */
  async #arrived(asker: Asker, row: UploadRow | undefined): Promise<UploadRow> {
    if (!row || row.status === 'leaving') throw noSuchUpload()
    if (row.status === 'stored') return row
    const found = await this.#parts.settlement.settle(row, causeOf(asker))
    if (!found) throw noSuchUpload('No file has come yet. Send it with PUT to its presigned_url.')
    const { sizeBytes, sha256 } = found
    return { ...row, status: 'stored', sizeBytes, sha256 }
  }

  async #row(accountId: AccountId, uploadId: UploadId): Promise<UploadRow | undefined> {
    const { reads } = this.#parts
    await reads.ownWrites(accountId)
    return reads.get('uploads', uploadKey(accountId, uploadId))
  }

  #granted(
    method: UploadGranted['method'],
    { filename, folder_path }: UploadForm,
    mimeType: string,
    grantMs: number,
    maxSizeBytes: number,
  ): UploadGranted {
    const { clock, uploadMs } = this.#parts
    const nowMs = clock.nowMs()
    const at = (ms: number) => new Date(nowMs + ms).toISOString()
    return {
      uploadId: newUploadId(),
      method,
      objectKey: `${folders.uploads}/${randomBytes(16).toString('hex')}.${endingFor(mimeType)}`,
      filename,
      ...(folder_path !== undefined && { folderPath: folder_path.replace(/^\/|\/$/g, '') }),
      mimeType,
      maxSizeBytes,
      expiresAt: at(grantMs),
      willDeleteAt: at(uploadMs),
    }
  }

  async #grant(asker: Asker, upload: UploadGranted) {
    const command = { type: 'GrantUpload', keyId: asker.keyId, upload } as const
    const outcome = await this.#parts.accounts.execute(asker.accountId, command, causeOf(asker))
    if ('refuse' in outcome) throw refused(outcome.refuse)
    return outcome.accept
  }
}

/** The same for an upload that is absent and for one of somebody else. */
export const noSuchUpload = (message = 'There is no such upload, or no longer.') =>
  new ApiError('upload_not_found', message)

const refused = (refusal: Refusal): ApiError => {
  switch (refusal.code) {
    case 'key_not_found':
      return new ApiError('invalid_api_key', 'This API key was revoked.')
    case 'too_many_uploads':
      return new ApiError(
        'rate_limited',
        `The account has ${refusal.limit} uploads, which is the most. Delete some, or wait until they are deleted.`,
      )
    default:
      throw new Error(`an upload was refused for a reason that no request can cause: ${refusal.code}`)
  }
}
