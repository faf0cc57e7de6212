import type { AuditorEvent } from '../../../schemas/auditor-events.ts'
import { AUDITORS_STREAM } from '../../../schemas/events.ts'
import type { AuditorId } from '../../../schemas/primitives.ts'
import { type AuditorCommand, type AuditorsState, auditors } from '../../domain/auditors/auditors.ts'
import { sha256 } from '../../domain/digest.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import type { Clock } from '../../ports/clock.ts'
import { type AuditorCaller, type Caller, causeOf } from '../caller.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'

/** The maximum age of the keys with which an unknown key is compared. So a new key works after this time. */
const MAX_AGE_MS = 100

/** Reads and changes the stream of auditors. No view holds their keys, so a forged row gives no access. */
export class AuditorKeys {
  readonly #mailbox: Mailbox<AuditorCommand, AuditorsState, AuditorEvent, Refusal>
  readonly #clock: Clock

  constructor(dependencies: StreamDependencies) {
    this.#clock = dependencies.clock
    this.#mailbox = mailboxOf(AUDITORS_STREAM, auditors, dependencies)
  }

  state(): Promise<AuditorsState> {
    return this.#mailbox.currentState()
  }

  execute(caller: Caller, command: AuditorCommand) {
    return this.#mailbox.execute(command, causeOf(caller))
  }

  /**
   * The auditor with this key; undefined if the key is unknown or was revoked in any process. Unknown keys do not cause
   * a read of the log each. Rejects with Unavailable.
   */
  async holderOf(apiKey: string): Promise<Omit<AuditorCaller, 'kind'> | undefined> {
    const hash = sha256(apiKey)
    const { active } = await this.#mailbox.stateSince(this.#clock.monotonicMs() - MAX_AGE_MS)
    return active.has(hash) ? holderIn(await this.state(), hash) : undefined
  }

  /** Like `holderOf`, but from memory, which may be a moment old. Enough to refuse an auditor, not to admit one. */
  async knows(apiKey: string): Promise<boolean> {
    const { active } = await this.#mailbox.stateSince(this.#clock.monotonicMs() - MAX_AGE_MS)
    return active.has(sha256(apiKey))
  }

  /** Whether the auditor's key is active in the log. Rejects with Unavailable. */
  async isActive(auditorId: AuditorId): Promise<boolean> {
    const auditor = (await this.state()).all.get(auditorId)
    return auditor !== undefined && auditor.revokedAt === undefined
  }
}

const holderIn = ({ all, active }: AuditorsState, hash: string) => {
  const auditorId = active.get(hash)
  const auditor = auditorId && all.get(auditorId)
  return auditor && { auditorId: auditor.auditorId, name: auditor.name }
}
