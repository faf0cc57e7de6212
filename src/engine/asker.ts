import type { AccountId, KeyId } from '../../schemas/primitives.ts'
import type { Cause } from './stream.ts'

/** Who asks for something, and how. */
export interface Asker {
  accountId: AccountId
  keyId: KeyId
  requestId: string
}

export const causeOf = ({ keyId, requestId }: Asker): Cause => ({ actor: { kind: 'key', keyId }, requestId })
