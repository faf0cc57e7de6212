import type { AuditedRead } from '../../../schemas/api/audit.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { eventCodec } from '../event-codec.ts'

/** A record of the stream of reads as auditors see it. */
export const auditedRead = (raw: RawEvent): AuditedRead | undefined => {
  const event = eventCodec.decode(raw)
  if (event.type !== 'AuditorRead') return undefined
  const { at, requestId, actor } = event.metadata
  const { auditorId, route, parameters } = event.data
  return {
    object: 'audit_read',
    event_id: event.id,
    revision: event.revision,
    created_at: at,
    auditor_id: auditorId,
    auditor: (actor as { name: string }).name,
    route,
    parameters,
    ...(requestId !== undefined && { request_id: requestId }),
  }
}
