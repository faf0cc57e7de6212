import type { AuditedAccount, AuditedRead, Verification } from '../../../schemas/api/audit.ts'
import type { Seal } from '../../../schemas/api/seal.ts'
import type { AuditorRead } from '../../../schemas/auditor-events.ts'
import { READS_STREAM, SEALS_STREAM } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { LogVerifier } from '../../ports/log-verifier.ts'
import { findAccount } from '../accounts/find-account.ts'
import { type Answer, answer } from '../answer.ts'
import type { AuditorCaller } from '../caller.ts'
import type { Ledger, LedgerEntry, LedgerQuery } from '../ledger/ledger.ts'
import type { SealStream } from '../seals/seal-stream.ts'
import { sealIn } from '../seals/seals.ts'
import type { Page, WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import { AuditedAccounts, type AuditedAccountsDependencies } from './audited-accounts.ts'
import { auditedRead } from './audited-read.ts'
import type { AuditorKeys } from './auditor-keys.ts'
import type { ReadRecord } from './read-record.ts'
import { type StreamQuery, streamPage } from './stream-page.ts'

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
