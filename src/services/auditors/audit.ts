import type { AuditedAccount, AuditedRead, Verification } from '../../../schemas/api/audit.ts'
import type { Seal } from '../../../schemas/api/seal.ts'
import type { AuditorRead } from '../../../schemas/auditor-events.ts'
import { READS_STREAM, SEALS_STREAM } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { LogVerifier } from '../../ports/log-verifier.ts'
import { findAccount } from '../accounts/find-account.ts'
import { type Answer, answer } from '../answer.ts'
import type { AuditorCaller } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import type { Ledger, LedgerEntry, LedgerQuery } from '../ledger/ledger.ts'
import type { SealStream } from '../seals/seal-stream.ts'
import { sealIn } from '../seals/seals.ts'
import type { Page, WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import { AuditedAccounts, type AuditedAccountsDependencies } from './audited-accounts.ts'
import type { AuditorKeys } from './auditor-keys.ts'
import type { ReadRecord } from './read-record.ts'

/** When a client should ask again while another verification runs. Verifying a million events takes 10 s. */
const RETRY_VERIFICATION_MS = 30_000

interface Dependencies extends AuditedAccountsDependencies {
  log: EventLog
  reads: Reads
  auditorKeys: AuditorKeys
  record: ReadRecord
  /** A ledger of its own, so that account owners never wait for the pages of auditors. */
  ledger: Pick<Ledger, 'lines'>
  seals: SealStream
  verifier: LogVerifier
}

type Read = Omit<AuditorRead, 'auditorId'>

/** Reads for auditors. Each read is recorded before its result is returned. A refused request is not a read. */
export class Audit {
  readonly #dependencies: Dependencies
  readonly #accounts: AuditedAccounts
  #isVerifying = false

  /** Each read is recorded under the name of an auditor, so only auditors may read. */
  readonly permissions = {
    accounts: 'audit',
    ledger: 'audit',
    seals: 'audit',
    reads: 'audit',
    verify: 'audit',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#accounts = new AuditedAccounts(dependencies)
  }

  /** All accounts, newest first. Rejects with Unavailable, like all other functions here. */
  accounts(
    caller: AuditorCaller,
    query: { limit: number; cursor?: AccountId | undefined },
    parameters: Read['parameters'],
    client: WaitingClient,
  ): Promise<Answer<Page<AuditedAccount, AccountId>>> {
    return this.#recorded(caller, { route: 'accounts', parameters }, () => this.#accounts.page(query, client))
  }

  /** The lines of any account. */
  ledger(
    caller: AuditorCaller,
    accountId: AccountId,
    query: LedgerQuery,
    parameters: Read['parameters'],
    client: WaitingClient,
  ): Promise<Answer<Page<LedgerEntry, string>>> {
    return this.#recorded(caller, { route: 'ledger', parameters }, async () => {
      const found = await findAccount(this.#dependencies.reads, caller, accountId)
      return 'refuse' in found ? found : this.#dependencies.ledger.lines({ accountId }, query, client)
    })
  }

  /** All seals, newest first. */
  seals(
    caller: AuditorCaller,
    query: StreamQuery,
    parameters: Read['parameters'],
  ): Promise<Answer<Page<Seal, string>>> {
    const { log, seals } = this.#dependencies
    return this.#recorded(caller, { route: 'seals', parameters }, async () => {
      const { links } = await seals.recentState()
      return streamPage(log, SEALS_STREAM, links.size - 1, query, sealIn)
    })
  }

  /** Earlier reads of auditors, newest first. */
  reads(
    caller: AuditorCaller,
    query: StreamQuery,
    parameters: Read['parameters'],
  ): Promise<Answer<Page<AuditedRead, string>>> {
    const { log, record } = this.#dependencies
    return this.#recorded(caller, { route: 'reads', parameters }, async () =>
      streamPage(log, READS_STREAM, await record.newest(), query, auditedRead),
    )
  }

  /**
   * Verifies the log, or one account, up to the current head. Verifications run one at a time, since each reads the
   * whole log. A verification stops when the client disconnects. A key that was revoked in the meantime gets no result.
   */
  async verify(
    caller: AuditorCaller,
    parameters: Read['parameters'],
    signal: AbortSignal,
  ): Promise<Answer<{ verification: Promise<Answer<Verification>> }>> {
    if (this.#isVerifying) return refuse('verification_running', { retryAfterMs: RETRY_VERIFICATION_MS })
    this.#isVerifying = true
    const end = () => {
      this.#isVerifying = false
    }
    try {
      const { account } = parameters
      const begun = await this.#recorded(caller, { route: 'verify', parameters }, async () =>
        account === undefined ? answer(undefined) : findAccount(this.#dependencies.reads, caller, account),
      )
      if ('refuse' in begun) {
        end()
        return begun
      }
      const verification = this.#dependencies.verifier.verify(account, signal)
      verification.then(end, end)
      return answer({ verification: verification.then(found => this.#ifActive(caller, answer(found))) })
    } catch (error) {
      end()
      throw error
    }
  }

  /**
   * The result of `find`, once the read is recorded. A key that was revoked in the meantime gets no result: the record
   * may follow the revocation, but the result may not.
   */
  async #recorded<Value>(
    caller: AuditorCaller,
    read: Read,
    find: () => Promise<Answer<Value>>,
  ): Promise<Answer<Value>> {
    const { record } = this.#dependencies
    const early = await record.refusalOf(caller)
    if (early) return early
    const found = await find()
    if ('refuse' in found) return found
    const recorded = await record.add(caller, read)
    if ('refuse' in recorded) return recorded
    return this.#ifActive(caller, found)
  }

  async #ifActive<Value>({ auditorId }: AuditorCaller, found: Answer<Value>): Promise<Answer<Value>> {
    return (await this.#dependencies.auditorKeys.isActive(auditorId)) ? found : refuse('key_revoked')
  }
}

/** The API form of a record. */
const auditedRead = (raw: RawEvent): AuditedRead | undefined => {
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

interface StreamQuery {
  limit: number
  /** The revision of the last event on the previous page. */
  cursor?: string | undefined
}

/**
 * A page of a stream, newest first. `last` is the revision of the stream's last event. A page may be short, because
 * `show` leaves out events for which it returns undefined.
 */
const streamPage = async <Shown>(
  log: Pick<EventLog, 'readStream'>,
  stream: string,
  last: number,
  { limit, cursor }: StreamQuery,
  show: (raw: RawEvent) => Shown | undefined,
): Promise<Answer<Page<Shown, string>>> => {
  if (cursor !== undefined && Number(cursor) > last) return refuse('cursor_unknown')
  const end = cursor === undefined ? last : Number(cursor) - 1
  const start = Math.max(0, end - limit + 1)
  const found: Shown[] = []
  for await (const page of start > end ? [] : log.readStream(stream, start)) {
    for (const raw of page) {
      const shown = raw.revision <= end ? show(raw) : undefined
      if (shown) found.unshift(shown)
    }
    if ((page.at(-1)?.revision ?? end) >= end) break
  }
  return answer({ found, next: start > 0 ? String(start) : null })
}
