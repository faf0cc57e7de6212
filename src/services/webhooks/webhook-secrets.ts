import type { AccountId, Moded } from '../../../schemas/primitives.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { signingGenerations } from '../../domain/account/webhooks.ts'
import { deriveKey } from '../derive-key.ts'

/** The secrets that sign an account's webhooks of one mode at a time in ms since 1970, the newest first. */
export type WebhookSecrets = (accountId: AccountId, state: AccountState, nowMs: number, mode: Moded) => string[]

export const webhookSecrets =
  (masterSecret: string): WebhookSecrets =>
  (accountId, state, nowMs, { livemode }) =>
    livemode === false
      ? [secretFor(masterSecret, `webhook-test:${accountId}`)]
      : signingGenerations(state, nowMs).map(generation => webhookSecret(masterSecret, accountId, generation))

/** The secret of an account's live webhooks. */
export const webhookSecret = (masterSecret: string, accountId: string, generation = 0): string => {
  // The first secret is from before there were rotations.
  const purpose = generation === 0 ? `webhook:${accountId}` : `webhook:${accountId}:${generation}`
  return secretFor(masterSecret, purpose)
}

/** Secrets are derived, so no store holds them. They are 32 bytes; the standard asks for 24 to 64. */
const secretFor = (masterSecret: string, purpose: string): string =>
  `whsec_${deriveKey(masterSecret, purpose).toString('base64')}`
