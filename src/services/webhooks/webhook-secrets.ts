import type { AccountId } from '../../../schemas/primitives.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { signingGenerations } from '../../domain/account/webhook-secrets.ts'
import { deriveKey } from '../derive-key.ts'

/** The secrets that sign an account's webhooks at a time in ms since 1970, the newest first. */
export type WebhookSecrets = (accountId: AccountId, state: AccountState, nowMs: number) => string[]

export const webhookSecrets =
  (masterSecret: string): WebhookSecrets =>
  (accountId, state, nowMs) =>
    signingGenerations(state, nowMs).map(generation => webhookSecret(masterSecret, accountId, generation))

/** An account's secret is derived, so no store holds it. It is 32 bytes; the standard asks for 24 to 64. */
export const webhookSecret = (masterSecret: string, accountId: string, generation = 0): string => {
  // The first secret is from before there were rotations.
  const purpose = generation === 0 ? `webhook:${accountId}` : `webhook:${accountId}:${generation}`
  return `whsec_${deriveKey(masterSecret, purpose).toString('base64')}`
}
