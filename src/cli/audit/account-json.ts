import type { Opening, OpenRun } from '../../audit/account/account-fold.ts'
import type { KnownKey } from '../../audit/account/key-ring.ts'
import type { PendingWebhook } from '../../audit/account/pending-webhooks.ts'
import type { StoredUpload } from '../../audit/account/stored-uploads.ts'
import type { AsOf } from '../../audit/as-of.ts'
import type { Lot } from '../../audit/lots.ts'
import type { AccountRecord } from '../../audit/read-log.ts'
import type { Replay } from '../../audit/replay.ts'
import { fromMicros } from '../../domain/money.ts'
import { creditsToJson, eventToJson } from './json.ts'
import { chainToJson } from './text.ts'

/** An account at a moment, as JSON. It has at least one event. */
export const accountToJson = ({ account, faults }: Replay, asOf: AsOf) => {
  const { accountId, email, tester, openedAt } = account.opening as Opening
  const { grantedMicros, withdrawnMicros, debitedMicros, refundedMicros, releasedMicros, expiredMicros } = account.sums
  return {
    as_of: asOf,
    ...{ account_id: accountId, email: email ?? null, tester, opened_at: openedAt },
    suspended_at: account.suspension?.since ?? null,
    suspension_reason: account.suspension?.reason ?? null,
    ...creditsToJson('credits_balance', account.balance),
    credits_granted: fromMicros(grantedMicros),
    credits_withdrawn: fromMicros(withdrawnMicros),
    credits_debited: fromMicros(debitedMicros),
    credits_refunded: fromMicros(refundedMicros),
    credits_released: fromMicros(releasedMicros),
    credits_expired: fromMicros(expiredMicros),
    lots: account.lots().map(lotToJson),
    active_keys: account.keys.active().map(keyToJson),
    open_runs: account.openRuns().map(runToJson),
    pending_webhooks: account.webhooks.list().map(webhookToJson),
    stored_uploads: account.uploads.list().map(uploadToJson),
    last_event: eventToJson(account.last as AccountRecord),
    ...chainToJson(faults),
  }
}

const lotToJson = ({ number, isPaid, leftMicros, expiresAt }: Lot) => ({
  lot: number,
  paid: isPaid,
  credits_left: fromMicros(leftMicros),
  expires_at: expiresAt ?? null,
})

const keyToJson = ({ keyId, name, lastFour, scope, livemode, createdAt }: KnownKey) => ({
  key_id: keyId,
  name,
  last_four: lastFour,
  scope,
  livemode: livemode !== false,
  created_at: createdAt,
})

const runToJson = ({ runId, model, endpoint, status, requestedAt, keyId, held }: OpenRun) => ({
  ...{ run_id: runId, model, endpoint, status, created_at: requestedAt },
  key_id: keyId ?? null,
  ...creditsToJson('credits_held', held),
})

const webhookToJson = ({ runId, url, attempts, lastStatus, lastReason, nextAttemptAt }: PendingWebhook) => ({
  ...{ run_id: runId, url, attempts },
  last_status: lastStatus ?? null,
  last_reason: lastReason ?? null,
  next_attempt_at: nextAttemptAt ?? null,
})

const uploadToJson = ({ uploadId, state, mimeType, sizeBytes, ...upload }: StoredUpload) => ({
  ...{ upload_id: uploadId, state, filename: upload.filename },
  folder_path: upload.folderPath ?? null,
  ...{ mime_type: mimeType, size_bytes: sizeBytes, sha256: upload.sha256, object_key: upload.objectKey },
  ...{ stored_at: upload.storedAt, will_delete_at: upload.willDeleteAt },
})
