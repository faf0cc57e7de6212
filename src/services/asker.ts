import type { AccountId, KeyId } from '../../schemas/primitives.ts'
import type { Cause } from '../engine/streams/stream.ts'

/** Who asks, and in which request. */
export interface Asker {
  accountId: AccountId
  keyId: KeyId
  requestId: string
}

export const causeOf = ({ keyId, requestId }: Asker): Cause => ({ actor: { kind: 'key', keyId }, requestId })
