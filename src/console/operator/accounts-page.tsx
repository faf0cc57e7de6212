import type { AccountSummary } from '../../services/accounts/accounts.ts'
import { SearchForm } from '../finder/search-form.tsx'
import { credits } from '../parts/text.ts'
import { Ago } from '../parts/time.tsx'
import { Shell } from '../shell.tsx'
import { ACCOUNTS, accountPath, nameOf } from './account-words.ts'

export interface AccountsProps {
  /** The newest first. */
  accounts: readonly AccountSummary[]
  /** The cursor of the next page. */
  next: string | null
}

/** All accounts, page by page, and the search for one. */
export const AccountsPage = ({ accounts, next }: AccountsProps) => (
  <Shell title="Accounts">
    <div class="page stack">
      <SearchForm
        label="Find an account"
        placeholder="An e-mail address, or the ID of an account, run, request, key, upload or job"
        button="Find"
      />
      <section class="card scroll" aria-label="Accounts, newest first" tabindex={0}>
        <table class="fold">
          <thead>
            <tr>
              <th scope="col">Owner</th>
              <th scope="col">State</th>
              <th scope="col" class="num">
                Balance
              </th>
              <th scope="col" class="num hide-small">
                Spent
              </th>
              <th scope="col" class="num hide-small">
                Opened
              </th>
            </tr>
          </thead>
          <tbody>
            <AccountRows accounts={accounts} next={next} />
          </tbody>
        </table>
      </section>
    </div>
  </Shell>
)

/** It is a fragment, too: the next page replaces the last row. */
export const AccountRows = ({ accounts, next }: AccountsProps) => (
  <>
    {accounts.map(({ account, tester, balanceMicros, suspension, sums }) => (
      <tr key={account.accountId}>
        <td>
          <a href={accountPath(account.accountId)} data-item dir="auto">
            {nameOf(account)}
          </a>
        </td>
        <td>
          <StateBadge isSuspended={suspension !== undefined} isTester={tester} />
        </td>
        <td class="num">{credits(balanceMicros)}</td>
        <td class="num hide-small muted">
          {credits((sums?.debitedMicros ?? 0) - (sums?.refundedMicros ?? 0) - (sums?.releasedMicros ?? 0))}
        </td>
        <td class="num hide-small muted">
          <Ago at={account.openedAt} />
        </td>
      </tr>
    ))}
    {next !== null && (
      <tr id="more">
        <td colspan={5}>
          <a
            class="button"
            href={`${ACCOUNTS}?cursor=${next}`}
            hx-get={`${ACCOUNTS}?cursor=${next}`}
            hx-target="#more"
            hx-swap="outerHTML"
          >
            Load more
          </a>
        </td>
      </tr>
    )}
  </>
)

export const StateBadge = ({ isSuspended, isTester }: { isSuspended: boolean; isTester: boolean }) => (
  <span class="row">
    <span class={`badge ${isSuspended ? 'bad' : 'good'}`}>{isSuspended ? 'Suspended' : 'Active'}</span>
    {isTester && <span class="badge plain">Tester</span>}
  </span>
)
