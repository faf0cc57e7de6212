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

/** When to ask for a verification again while another is in progress. It takes 10 s for a million events. */
const RETRY_VERIFICATION_MS = 30_000

interface Dependencies extends AuditedAccountsDependencies {
  log: EventLog
  reads: Reads
  auditorKeys: AuditorKeys
  record: ReadRecord
  /** Apart from the one for the owners of accounts, who must not wait for the pages of auditors. */
  ledger: Pick<Ledger, 'lines'>
  seals: SealStream
  verifier: LogVerifier
}

type Read = Omit<AuditorRead, 'auditorId'>

/** What auditors read. Each read is recorded before its answer is given, and a request that is refused is no read. */
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

  /** All accounts, newest first. Rejects with Unavailable, like all others here. */
  accounts(
    caller: AuditorCaller,
    query: { limit: number; cursor?: AccountId | undefined },
    parameters: Read['parameters'],
    client: WaitingClient,
  ): Promise<Answer<Page<AuditedAccount, AccountId>>> {
    return this.#recorded(caller, { route: 'accounts', parameters }, () => this.#accounts.page(query, client))
  }

  /** The lines of any account, as its owner sees them. */
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

  /** What auditors have read before, newest first. */
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
   * Begins to verify the log, or one account, up to its present head. One at a time, since each reads the whole log.
   * The verification ends when the client disconnects. A key that was revoked meanwhile gets no result.
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
   * What `find` finds, once it is recorded that the auditor has read it. A key that was revoked meanwhile gets nothing:
   * the record may come after the revocation, but never the answer.
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

/** A record of the stream of reads as auditors see it. */
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
  /** The revision of the last event of the page before. */
  cursor?: string | undefined
}

/**
 * A page of a stream whose last event has the revision `last`, newest first. `show` leaves out events for which it
 * returns nothing, so that a page may be short.
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
