import { MAX_FAULTS, type Verification as ShownVerification } from '../../../schemas/api/audit.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Fault } from '../fault.ts'
import type { Verification } from './verify.ts'

/** A verification of the whole log, or of one account, as the API shows it. */
export const shown = (
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
