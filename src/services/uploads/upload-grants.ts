import type { AccountEvent, UploadGranted } from '../../../schemas/account-events.ts'
import type { UploadForm } from '../../../schemas/api/upload.ts'
import type { AccountId, KeyId, UploadId } from '../../../schemas/primitives.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import { extensionFor } from '../../domain/media-types.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Folder } from '../../ports/object-store.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, keyIdOf } from '../caller.ts'
import { newUploadId } from '../ids.ts'

/** The type, size and duration of a grant. */
interface GrantTerms extends Pick<UploadGranted, 'method' | 'mimeType' | 'maxSizeBytes'> {
  form: UploadForm & { filename: string }
  grantMs: number
}

interface Dependencies {
  accounts: AccountMailboxes
  clock: Clock
  random: Random
  /** How long files are kept. */
  retentionMs: number
  /** The total size of an account's uploads. */
  quotaBytes: number
}

/** Grants object keys for files. The log has the grant before the store has the file. */
export class UploadGrants {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Resolves when the grant is durable. Rejects with Unavailable. */
  async give(
    caller: AccountCaller,
    { form, grantMs, ...terms }: GrantTerms,
  ): Promise<Answer<{ upload: UploadGranted; events: Recorded<AccountEvent>[] }>> {
    const { accounts, clock, random, retentionMs, quotaBytes } = this.#dependencies
    const nowMs = clock.nowMs()
    const { filename, folder_path } = form
    const upload: UploadGranted = {
      ...terms,
      uploadId: newUploadId(random),
      objectKey: newUploadKey(random, terms.mimeType),
      filename,
      ...(folder_path && { folderPath: folder_path.replace(/^\/|\/$/g, '') }),
      expiresAt: new Date(nowMs + grantMs).toISOString(),
      willDeleteAt: new Date(nowMs + retentionMs).toISOString(),
    }
    const keyId = keyIdOf(caller)
    const command = { type: 'GrantUpload', ...(keyId && { keyId }), upload, quotaBytes } as const
    const outcome = await accounts.execute(caller, caller.accountId, command)
    return 'refuse' in outcome ? outcome : answer({ upload, events: outcome.accept })
  }
}

/** The key of a new upload. It contains 128 random bits, so its address cannot be guessed. */
const newUploadKey = (random: Random, mimeType: string): string =>
  `${'uploads' satisfies Folder}/${random.hex(16)}.${extensionFor(mimeType)}`

/** The upload of a presigned address, and the key that requested the address, if a key did. */
interface PutPurpose {
  accountId: AccountId
  uploadId: UploadId
  keyId: KeyId | undefined
}

/** The purpose as the signed part of an address. */
export const purposeOf = ({ accountId, uploadId, keyId = '' as KeyId }: PutPurpose): string =>
  [accountId, uploadId, keyId].join('.')

/** Parses the purpose of an address whose signature was verified. */
export const readPurpose = (text: string): PutPurpose => {
  const [accountId, uploadId, keyId] = text.split('.')
  return { accountId, uploadId, keyId: keyId || undefined } as PutPurpose
}
