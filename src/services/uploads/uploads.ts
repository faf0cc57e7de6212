import type { UploadGranted } from '../../../schemas/account-events.ts'
import type { PresignRequest } from '../../../schemas/api/upload.ts'
import {
  type AccountId,
  MAX_ARRIVING_UPLOADS,
  MAX_PRESIGNED_BYTES,
  type UploadId,
} from '../../../schemas/primitives.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, isListedFor, isSeenBy, keyIdOf } from '../caller.ts'
import { indexFor, NewestFirst, type Page, type WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import { type IncomingUpload, receiveUpload } from './incoming-upload.ts'
import type { UploadFinder } from './upload-finder.ts'
import { purposeOf, type UploadGrants } from './upload-grants.ts'
import { declaredType } from './upload-rules.ts'
import type { UploadSettlement } from './upload-settlement.ts'

interface Dependencies {
  reads: Reads
  clock: Clock
  accounts: AccountMailboxes
  objects: ObjectStore
  finder: UploadFinder
  settlement: UploadSettlement
  grants: UploadGrants
  /** The lifetime of a presigned grant. */
  grantMs: number
}

/** A granted upload, and the address for its file. */
interface PresignedGrant {
  upload: UploadGranted
  presignedUrl: string
}

/** Receives and lists the files of clients. */
export class Uploads {
  readonly #dependencies: Dependencies
  readonly #newestFirst: NewestFirst
  readonly #arriving = new ArrivingUploads()

  readonly permissions = { receive: 'write', presign: 'write', find: 'read', list: 'read', delete: 'write' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#newestFirst = new NewestFirst(dependencies)
  }

  /** Starts to receive a file. `declared` is its type, if the client declares one. */
  receive(caller: AccountCaller, declared: string | undefined): Promise<Answer<IncomingUpload>> {
    return this.#arriving.count(caller, () => receiveUpload(this.#dependencies, caller, declared))
  }

  /** Grants an address to which a client can send a file directly. Rejects with Unavailable. */
  async presign(
    caller: AccountCaller,
    { filename, folder_path, mime_type, size_bytes = 1 }: PresignRequest,
  ): Promise<Answer<PresignedGrant>> {
    const declared = declaredType(mime_type)
    if ('refuse' in declared) return declared
    const { value: mimeType } = declared
    if (mimeType === undefined) return refuse('declared_type_unspecific', { declared: mime_type })
    if (size_bytes > MAX_PRESIGNED_BYTES) return refuse('upload_too_large', { limitBytes: MAX_PRESIGNED_BYTES })
    const { grants, objects, grantMs } = this.#dependencies
    const form = { filename, ...(folder_path !== undefined && { folder_path }) }
    const terms = { method: 'presigned', form, mimeType, grantMs, maxSizeBytes: MAX_PRESIGNED_BYTES } as const
    const granted = await grants.give(caller, terms)
    if ('refuse' in granted) return granted
    const { upload } = granted.value
    const { objectKey: key, maxSizeBytes, expiresAt } = upload
    const expiresAtMs = Date.parse(expiresAt)
    const purpose = purposeOf({ accountId: caller.accountId, uploadId: upload.uploadId, keyId: keyIdOf(caller) })
    const put = { key, mimeType, maxSizeBytes, expiresAtMs, purpose }
    return answer({ upload, presignedUrl: await objects.presignPut(put) })
  }

  /** One of the caller's uploads whose file has arrived. */
  find(caller: AccountCaller, id: string): Promise<Answer<UploadRow>> {
    return this.#dependencies.finder.byId(caller, id)
  }

  /** A page of the caller's uploads whose files have arrived, newest first. */
  async list(
    caller: AccountCaller,
    { limit, cursor }: { limit: number; cursor?: UploadId },
    client?: WaitingClient,
  ): Promise<Answer<Page<UploadRow, UploadId>>> {
    const matches = (row: UploadRow) => row.status === 'stored' && isListedFor(caller, row)
    const query = { limit, cursor, matches, ...indexFor(caller) }
    return answer(await this.#newestFirst.page('uploads', caller.accountId, query, client))
  }

  /** Deletes one of the caller's uploads. Returns its ID. */
  async delete(caller: AccountCaller, id: string): Promise<Answer<UploadId>> {
    const { accounts, objects, finder, settlement } = this.#dependencies
    const row = await finder.row(caller.accountId, id)
    if (!row || row.status === 'deleting' || !isSeenBy(caller, row)) return refuse('upload_not_found')
    const { uploadId } = row
    const command = { type: 'RequestUploadDeletion', keyId: keyIdOf(caller), uploadId } as const
    const outcome = await accounts.execute(caller, caller.accountId, command)
    if ('refuse' in outcome) return outcome
    // If another file may still arrive, the deletion is recorded when the grant ends. The service is the caller,
    // because the original caller's key may be revoked by now.
    if (row.sealed) await settlement.remove({ kind: 'service', requestId: caller.requestId }, row, 'requested')
    else await objects.delete(row.objectKey)
    return answer(uploadId)
  }
}

/**
 * Limits how many files of an account arrive at a time, because a file counts towards the quota only when it is
 * complete.
 */
class ArrivingUploads {
  readonly #open = new OpenCounts<AccountId>(MAX_ARRIVING_UPLOADS)

  /** Counts an upload from its beginning until it is finished or discarded. */
  async count(
    { accountId }: AccountCaller,
    begin: () => Promise<Answer<IncomingUpload>>,
  ): Promise<Answer<IncomingUpload>> {
    const close = this.#open.open(accountId)
    if (!close) return refuse('too_many_arriving_uploads', { limit: MAX_ARRIVING_UPLOADS })
    let begun: Answer<IncomingUpload> | undefined
    try {
      begun = await begin()
    } finally {
      if (!begun || 'refuse' in begun) close()
    }
    if ('refuse' in begun) return begun
    const { finish, discard } = begun.value
    return answer({
      ...begun.value,
      finish: form => finish(form).finally(close),
      discard: () => discard().finally(close),
    })
  }
}
