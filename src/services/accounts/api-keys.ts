import { randomBytes } from 'node:crypto'
import type { AccountId, KeyId } from '../../../schemas/primitives.ts'
import { sha256 } from '../../engine/log/canonical.ts'
import type { Cause } from '../../engine/streams/stream.ts'
import { newKeyId } from '../ids.ts'
import { OperatorError } from '../operator-error.ts'
import type { Accounts } from './accounts.ts'

/** Creates a key for an account. This is the only moment at which its text exists; the log has the hash. Throws OperatorError. */
export const createApiKey = async (
  accounts: Accounts,
  keyPrefix: string,
  { accountId, keyId = newKeyId(), name, cause }: { accountId: AccountId; keyId?: KeyId; name: string; cause: Cause },
): Promise<{ keyId: KeyId; apiKey: string }> => {
  const apiKey = `${keyPrefix}_sk_live_${randomBytes(16).toString('hex')}`
  const command = { type: 'CreateApiKey', keyId, name, hash: sha256(apiKey), lastFour: apiKey.slice(-4) } as const
  const outcome = await accounts.execute(accountId, command, cause)
  if ('refuse' in outcome) throw OperatorError.of(outcome.refuse)
  return { keyId, apiKey }
}
