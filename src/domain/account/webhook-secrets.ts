import type { AccountEvent } from '../../../schemas/account-events.ts'
import { DAY_MS } from '../days.ts'
import { accept } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { TimedRequest } from './commands.ts'
import { writeRefusal } from './keys.ts'
import type { AccountState } from './state.ts'

/** How long the secret before the last rotation signs as well: receivers have a day to take the new one over. */
export const OVERLAP_MS = DAY_MS

/**
 * Makes the next secret. There is one rotation at a time, so a webhook never has more than two signatures, and a
 * receiver that took over the secret of the last rotation is never cut off by the next one.
 */
export const rotate = ({ keyId, atMs }: TimedRequest, state: AccountState): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  const untilMs = overlapEndMs(state, atMs)
  if (untilMs !== undefined) return refuse('webhook_secret_rotated', { retryAfterMs: untilMs - atMs })
  return accept([{ type: 'WebhookSecretRotated', data: { generation: state.webhookSecret.generation + 1 } }])
}

/** The generations of the secrets that sign at a time, the newest first. */
export const signingGenerations = (state: AccountState, nowMs: number): number[] => {
  const { generation } = state.webhookSecret
  return overlapEndMs(state, nowMs) === undefined ? [generation] : [generation, generation - 1]
}

/**
 * Until when the secret before the last rotation signs as well; undefined if it does not. A rotation by a clock that
 * was a day or more ahead is over, since it would last for too long.
 */
export const overlapEndMs = (
  { webhookSecret: { generation, rotatedAtMs } }: AccountState,
  nowMs: number,
): number | undefined =>
  generation > 0 && Math.abs(nowMs - rotatedAtMs) < OVERLAP_MS ? rotatedAtMs + OVERLAP_MS : undefined
