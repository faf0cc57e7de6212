import { uploadKey } from '../../../projections/uploads.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import type { FileRefusal } from '../../domain/refusal.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { answer } from '../answer.ts'
import { type AccountCaller, isSeenBy } from '../caller.ts'
import { isUploadId } from '../ids.ts'
import type { Reads } from '../views/reads.ts'
import type { UploadSettlement } from './upload-settlement.ts'

interface Dependencies {
  accounts: AccountMailboxes
  reads: Reads
  settlement: UploadSettlement
}

type Found = { value: UploadRow } | { refuse: FileRefusal }

/** Finds an account's uploads. An upload of another account or mode is treated as absent. */
export class UploadFinder {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** An upload whose file has arrived. Inspects the file of a granted upload now, since it may have arrived. */
  async byId(caller: AccountCaller, id: string): Promise<Found> {
    return this.#arrived(caller, await this.row(caller.accountId, id))
  }

  /** Like `byId`, by the key of the file in the object store. */
  async byKey(caller: AccountCaller, objectKey: string): Promise<Found> {
    await this.#dependencies.reads.ownWrites(caller.accountId)
    const row = await this.at(objectKey)
    return this.#arrived(caller, row?.accountId === caller.accountId ? await this.#confirmed(row) : undefined)
  }

  /** Any account's upload by the key of its file, from the views. Rejects with Unavailable. */
  async at(objectKey: string): Promise<UploadRow | undefined> {
    const [entry] = await this.#dependencies.reads.list('uploads', 'byObject', { prefix: objectKey, limit: 1 })
    // A key may be a prefix of another key.
    return entry?.place === objectKey ? entry.row : undefined
  }

  /** An upload in any state. */
  async row(accountId: AccountId, id: string): Promise<UploadRow | undefined> {
    const row = isUploadId(id)
      ? await this.#dependencies.reads.getOwn(accountId, 'uploads', uploadKey(accountId, id))
      : undefined
    return row && this.#confirmed(row)
  }

  /** The row, with the object key and mode from the account's state; undefined if the account has no such upload. */
  async #confirmed(row: UploadRow): Promise<UploadRow | undefined> {
    const { accountId, uploadId } = row
    const { accounts } = this.#dependencies
    const recent = (await accounts.recentState(accountId)).uploads.get(uploadId)
    // The views may already show a grant that another process made in the last second.
    const upload = recent ?? (await accounts.currentState(accountId)).uploads.get(uploadId)
    return upload && { ...row, objectKey: upload.objectKey, livemode: upload.livemode }
  }

  async #arrived(caller: AccountCaller, row: UploadRow | undefined): Promise<Found> {
    if (!row || row.status === 'deleting' || !isSeenBy(caller, row)) return { refuse: { code: 'upload_not_found' } }
    if (row.status === 'stored') return answer(row) as Found
    // The service settles the upload, even for a `read` key, which could neither store nor delete a file.
    const found = await this.#dependencies.settlement.settle({ kind: 'service', requestId: caller.requestId }, row)
    if (!found) return { refuse: { code: 'upload_not_sent' } }
    if ('refuse' in found) return found
    const { sizeBytes, sha256 } = found
    return { value: { ...row, status: 'stored', sizeBytes, sha256 } }
  }
}
