import type { AuditedAccount } from '../../../schemas/api/audit.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { AccountRow } from '../../../schemas/views.ts'
import { fromMicros } from '../../domain/money.ts'
import { refuse } from '../../domain/refusal.ts'
import { Damaged } from '../../ports/faults.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { Page, WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'

export interface AuditedAccountsDependencies {
  accounts: Pick<AccountMailboxes, 'currentHead'>
  reads: Reads
}

interface AccountsQuery {
  limit: number
  /** The last account on the previous page. */
  cursor?: AccountId | undefined
}

/** Lists all accounts for auditors, with names from the views and balances from the log. */
export class AuditedAccounts {
  readonly #dependencies: AuditedAccountsDependencies

  constructor(dependencies: AuditedAccountsDependencies) {
    this.#dependencies = dependencies
  }

  /** A page of accounts, newest first. Serves other requests between two accounts. */
  async page(
    { limit, cursor }: AccountsQuery,
    client: WaitingClient,
  ): Promise<Answer<Page<AuditedAccount, AccountId>>> {
    const { reads } = this.#dependencies
    if (cursor !== undefined && !(await reads.get('accounts', cursor))) return refuse('cursor_unknown')
    // One account more than requested shows that there are more.
    const range = { prefix: '', after: cursor, newestFirst: true, limit: limit + 1 }
    const rows = (await reads.list('accounts', BY_KEY, range)).map(({ row }) => row)
    const found: AuditedAccount[] = []
    for (const row of rows.slice(0, limit)) {
      await client.nextTurn()
      if (client.signal.aborted) break
      found.push(await this.#show(row))
    }
    return answer({ found, next: rows.length > limit ? (rows[limit - 1] as AccountRow).accountId : null })
  }

  async #show({ accountId, email, openedAt }: AccountRow): Promise<AuditedAccount> {
    const { state, revision, link } = await this.#dependencies.accounts.currentHead(accountId)
    if (link === undefined) throw new Damaged(`the views have the account ${accountId}, and the log does not`)
    return {
      object: 'account',
      account_id: accountId,
      email: email ?? null,
      tester: state.tester,
      opened_at: openedAt,
      suspended: state.suspension !== undefined,
      credits_balance: fromMicros(state.balanceMicros),
      revision,
      link,
    }
  }
}
