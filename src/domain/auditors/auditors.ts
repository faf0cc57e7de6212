import { Map as ImmutableMap, OrderedMap } from 'immutable'
import type { AuditorEvent } from '../../../schemas/auditor-events.ts'
import { type AuditorId, MAX_AUDITORS } from '../../../schemas/primitives.ts'
import { accept, type Decider, type PastEvent, unreachable } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'

export type AuditorCommand =
  | { type: 'CreateAuditorKey'; auditorId: AuditorId; name: string; hash: string; lastFour: string }
  | { type: 'RevokeAuditorKey'; auditorId: AuditorId }

export interface Auditor {
  auditorId: AuditorId
  name: string
  hash: string
  lastFour: string
  createdAt: string
  revokedAt?: string
}

export interface AuditorsState {
  /** All auditors in the order of their creation, including auditors whose keys were revoked. */
  all: OrderedMap<AuditorId, Auditor>
  /** The auditors with active keys, by the hashes of these. */
  active: ImmutableMap<string, AuditorId>
}

const initial: AuditorsState = { all: OrderedMap(), active: ImmutableMap() }

const decide = (command: AuditorCommand, { all, active }: AuditorsState): Decided<AuditorEvent> => {
  switch (command.type) {
    case 'CreateAuditorKey': {
      const { type, ...data } = command
      // The log names the actor of an event by this name alone.
      const isTaken = all.has(data.auditorId) || [...active.values()].some(id => all.get(id)?.name === data.name)
      if (isTaken) return refuse('auditor_exists', { name: data.name })
      if (active.size >= MAX_AUDITORS) return refuse('too_many_auditors', { limit: MAX_AUDITORS })
      return accept([{ type: 'AuditorKeyCreated', data }])
    }
    case 'RevokeAuditorKey': {
      const { auditorId } = command
      const auditor = all.get(auditorId)
      if (!auditor || auditor.revokedAt !== undefined) return refuse('auditor_not_found')
      return accept([{ type: 'AuditorKeyRevoked', data: { auditorId, hash: auditor.hash } }])
    }
    default:
      return unreachable(command)
  }
}

const evolve = ({ all, active }: AuditorsState, event: PastEvent<AuditorEvent>): AuditorsState => {
  const { at } = event.metadata
  switch (event.type) {
    case 'AuditorKeyCreated': {
      const { auditorId, hash } = event.data
      return { all: all.set(auditorId, { ...event.data, createdAt: at }), active: active.set(hash, auditorId) }
    }
    case 'AuditorKeyRevoked': {
      const { auditorId, hash } = event.data
      return {
        all: all.update(auditorId, auditor => auditor && { ...auditor, revokedAt: at }),
        active: active.delete(hash),
      }
    }
    default:
      return unreachable(event)
  }
}

/** The keys of auditors, which belong to no account. */
export const auditors: Decider<AuditorCommand, AuditorsState, AuditorEvent, Refusal> = { initial, decide, evolve }
