import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import type { AuditedEvent, ReportEnd } from './rule.ts'

const WEEK_MS = 7 * 24 * 60 * 60 * 1000

/** The keys whose owner is to be told, a week before, that they expire. */
export class ExpiringKeys {
  readonly #expiresAt = new Map<unknown, string>()

  take(event: AuditedEvent) {
    const { keyId, expiresAt } = event.data as { keyId?: string; expiresAt?: string }
    if (event.type === 'ApiKeyCreated' && Date.parse(expiresAt ?? '') - WEEK_MS > Date.parse(clockOf(event)))
      this.#expiresAt.set(keyId, expiresAt as string)
    if (event.type === 'ApiKeyRevoked') this.#expiresAt.delete(keyId)
  }

  takeNotice({ keyId, expiresAt }: Readonly<Record<string, unknown>>, time: string, report: Report) {
    const known = this.#expiresAt.get(keyId)
    if (known === undefined) return report(`no notice of the expiry of ${keyId} is due`)
    this.#expiresAt.delete(keyId)
    if (expiresAt !== known) report(`${keyId} expires at ${known}`)
    if (Date.parse(known) - WEEK_MS > Date.parse(time)) report(`${keyId} expires in more than a week`)
  }

  /** A service that is down for the whole week can tell nobody. */
  end(report: ReportEnd) {
    for (const [keyId, expiresAt] of this.#expiresAt)
      report(`there was no notice of the expiry of ${keyId}`, Date.parse(expiresAt))
  }
}
