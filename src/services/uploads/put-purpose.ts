import type { AccountId, KeyId, UploadId } from '../../../schemas/primitives.ts'

/** The upload that a presigned address is for, and the key that asked for it, if one did. */
export interface PutPurpose {
  accountId: AccountId
  uploadId: UploadId
  keyId: KeyId | undefined
}

/** A purpose as the signed part of an address. */
export const purposeOf = ({ accountId, uploadId, keyId = '' as KeyId }: PutPurpose): string =>
  [accountId, uploadId, keyId].join('.')

/** The purpose of an address whose signature was verified. */
export const readPurpose = (text: string): PutPurpose => {
  const [accountId, uploadId, keyId] = text.split('.')
  return { accountId, uploadId, keyId: keyId || undefined } as PutPurpose
}
