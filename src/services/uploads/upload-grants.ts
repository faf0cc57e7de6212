import type { AccountEvent, UploadGranted } from '../../../schemas/account-events.ts'
import type { UploadForm } from '../../../schemas/api/upload.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { ApiError, keyRevoked } from '../api-error.ts'
import { type Asker, causeOf } from '../asker.ts'
import { newUploadId } from '../ids.ts'
import { newObjectKey } from './object-keys.ts'

/** What a file may be that comes under a grant, and until when it may come. */
interface GrantTerms extends Pick<UploadGranted, 'method' | 'mimeType' | 'maxSizeBytes'> {
  form: UploadForm
  grantMs: number
}

interface Parts {
  accounts: Accounts
  clock: Clock
  /** How long a file is kept. */
  retentionMs: number
}

/** Gives files their places, each on the log before there is a file. */
export class UploadGrants {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Resolves when the grant is durable. Rejects with ApiError or Unavailable. */
  async give(
    asker: Asker,
    { form, grantMs, ...terms }: GrantTerms,
  ): Promise<{ upload: UploadGranted; events: Recorded<AccountEvent>[] }> {
    const { accounts, clock, retentionMs } = this.#parts
    const nowMs = clock.nowMs()
    const { filename, folder_path } = form
    const upload: UploadGranted = {
      ...terms,
      uploadId: newUploadId(),
      objectKey: newObjectKey('uploads', terms.mimeType),
      filename,
      ...(folder_path !== undefined && { folderPath: folder_path.replace(/^\/|\/$/g, '') }),
      expiresAt: new Date(nowMs + grantMs).toISOString(),
      willDeleteAt: new Date(nowMs + retentionMs).toISOString(),
    }
    const command = { type: 'GrantUpload', keyId: asker.keyId, upload } as const
    const outcome = await accounts.execute(asker.accountId, command, causeOf(asker))
    if ('refuse' in outcome) throw refused(outcome.refuse)
    return { upload, events: outcome.accept }
  }
}

const refused = (refusal: Refusal): ApiError => {
  switch (refusal.code) {
    case 'key_not_found':
      return keyRevoked()
    case 'too_many_uploads':
      return new ApiError(
        'rate_limited',
        `The account has ${refusal.limit} uploads, which is the most. Delete some, or wait until they are deleted.`,
      )
    default:
      throw new Error(`an upload was refused for a reason that no request can cause: ${refusal.code}`)
  }
}
