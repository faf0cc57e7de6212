import { setPriority } from 'node:os'
import { MAX_FAULTS, type Verification as ShownVerification } from '../../schemas/api/audit.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { Fault } from '../audit/fault.ts'
import { type Verification, verifyLog } from '../audit/verify/verify.ts'
import type { VerifierOrder, VerifierReport } from '../ports/log-verifier.ts'
import type { Config } from './config.ts'
import { ensureParent } from './process.ts'
import { openLogReadOnly } from './stores.ts'

// The program of the child process that verifies the log for `GET /v1/audit/verify`. It ends with its parent.

/** The least urgent priority but one. */
const NICENESS = 18

const verify = async ({ eventStore, account }: VerifierOrder): Promise<VerifierReport> => {
  const { log, isDense } = await openLogReadOnly({ eventStore } as Config)
  try {
    const found = await verifyLog(log, { account, isDense, onProgress: ensureParent })
    return found
      ? { verification: shown(found, account as AccountId | undefined) }
      : { failure: 'the log has no such account' }
  } catch (error) {
    return { failure: (error as Error).message }
  } finally {
    await log.close()
  }
}

process.once('message', async (order: VerifierOrder) => {
  setPriority(NICENESS)
  const report = await verify(order).catch((error: Error): VerifierReport => ({ failure: error.message }))
  if (process.connected) process.send?.(report, () => process.disconnect())
})

/** The API form of a verification. */
const shown = (
  { head, events, streams, newestAt, seal, unsealed, faults, notes }: Verification,
  accountId: AccountId | undefined,
): ShownVerification => ({
  object: 'verification',
  account_id: accountId ?? null,
  valid: faults.length === 0,
  position: head,
  events,
  streams,
  newest_at: newestAt ?? null,
  seal: seal ? { seal: seal.name, events: seal.events, at: seal.at } : null,
  unsealed_events: accountId === undefined ? unsealed : null,
  faults_total: faults.length,
  faults: faults.slice(0, MAX_FAULTS).map(finding),
  notes_total: notes.length,
  notes: notes.slice(0, MAX_FAULTS).map(finding),
})

const finding = ({ stream, revision, position, eventId, what }: Fault) => ({
  stream,
  revision: revision ?? null,
  position: position ?? null,
  event_id: eventId ?? null,
  fault: what,
})
