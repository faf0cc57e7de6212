import type { AccountEvent, DebitFacts } from '../../../schemas/account-events.ts'
import type { KeyId } from '../../../schemas/primitives.ts'

type Debit = Extract<AccountEvent, { type: 'CreditsDebited' }>

interface Caused {
  metadata: { actor?: object }
}

/** The facts of a debit that its refunds repeat. */
export const debitFacts = (debit: Pick<Debit, 'data'> & Caused): DebitFacts => {
  const { receipt, label } = debit.data
  const keyId = keyOf(debit)
  return {
    model: receipt.model,
    endpoint: receipt.endpoint,
    ...(keyId && { keyId }),
    ...(label !== undefined && { label }),
  }
}

/** Whether the owner of the account caused an event, with a key or signed in. */
export const isByOwner = ({ metadata: { actor } }: Caused): boolean =>
  actor !== undefined && 'kind' in actor && (actor.kind === 'key' || actor.kind === 'session')

/** The key that caused an event, if one did. */
export const keyOf = ({ metadata: { actor } }: Caused): KeyId | undefined =>
  actor && 'keyId' in actor ? (actor.keyId as KeyId) : undefined
