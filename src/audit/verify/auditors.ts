import type { AuditedEvent, Report } from '../fault.ts'

/**
 * A key may be revoked while a request with it is in flight. The request is then recorded after the revocation, but not
 * answered.
 */
const ON_ITS_WAY_MS = 60_000

interface Auditor {
  name: unknown
  hash: unknown
  revokedAt?: string
}

/**
 * Operators create each auditor once and revoke each key once, under its hash. Only auditors with active keys read,
 * under their own names.
 */
export class Auditors {
  readonly #auditors = new Map<unknown, Auditor>()
  readonly #hashes = new Set<unknown>()

  take(event: AuditedEvent, report: Report) {
    switch (event.type) {
      case 'AuditorKeyCreated':
        return this.#create(event, report)
      case 'AuditorKeyRevoked':
        return this.#revoke(event, report)
      case 'AuditorRead':
        return this.#read(event, report)
    }
  }

  #create({ data: { auditorId, name, hash }, metadata }: AuditedEvent, report: Report) {
    checkOperator(metadata.actor, report)
    if (this.#auditors.has(auditorId)) report(`${auditorId} was created before`)
    if (this.#hashes.has(hash)) report('its key was created before')
    for (const other of this.#auditors.values())
      if (other.name === name && other.revokedAt === undefined) report(`an active auditor has the name ${name} already`)
    this.#auditors.set(auditorId, { name, hash })
    this.#hashes.add(hash)
  }

  #revoke({ data: { auditorId, hash }, metadata }: AuditedEvent, report: Report) {
    checkOperator(metadata.actor, report)
    const auditor = this.#auditors.get(auditorId)
    if (auditor?.hash !== hash || auditor?.revokedAt !== undefined)
      report(`${auditorId} is not an active auditor with a key of this hash`)
    if (auditor) auditor.revokedAt ??= metadata.at
  }

  #read({ data: { auditorId }, metadata: { actor, at } }: AuditedEvent, report: Report) {
    const auditor = this.#auditors.get(auditorId)
    if (!auditor) return report(`${auditorId} was not created before it`)
    const { kind, name } = actor as { kind?: string; name?: string }
    if (kind !== 'auditor' || name !== auditor.name) report(`it was not caused by the auditor ${auditor.name}`)
    const { revokedAt } = auditor
    if (revokedAt === undefined) return
    const isOnItsWay = Date.parse(at) - Date.parse(revokedAt) <= ON_ITS_WAY_MS
    report(`the key of ${auditorId} had been revoked at ${revokedAt}`, ...(isOnItsWay ? ([true] as const) : []))
  }
}

/** Reports an operators' event that another actor caused. */
export const checkOperator = (actor: object, report: Report) => {
  const { kind } = actor as { kind?: string }
  if (kind !== 'operator') report(`it was caused by the actor ${kind}, not by an operator`)
}
