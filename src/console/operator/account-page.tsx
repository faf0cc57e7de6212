import type { Children } from '#jsx/jsx-runtime'
import type { ApiKey } from '../../../schemas/api/key.ts'
import type { RecordedEvent } from '../../../schemas/events.ts'
import type { RunRow, StatementRow } from '../../../schemas/views.ts'
import { identityName } from '../../domain/login/identity.ts'
import type { AccountSummary } from '../../services/accounts/accounts.ts'
import { CopyButton } from '../parts/code.tsx'
import { credits, decimal } from '../parts/text.ts'
import { Ago, Moment } from '../parts/time.tsx'
import { statusOf } from '../runs/run-words.ts'
import { Shell } from '../shell.tsx'
import { ACCOUNTS, type ActionName, accountPath, nameOf } from './account-words.ts'
import { StateBadge } from './accounts-page.tsx'

export interface AccountProps {
  summary: AccountSummary
  keys: readonly ApiKey[]
  /** The newest runs and lines of the ledger. */
  runs: readonly RunRow[]
  lines: readonly StatementRow[]
  /** The change that an operator has just made. */
  done?: RecordedEvent | undefined
  /** Whether the change had been made before. */
  isRepeat: boolean
}

/** An account for operators: what its owner sees, read-only, and what operators may change. */
export const AccountPage = ({ summary, keys, runs, lines, done, isRepeat }: AccountProps) => {
  const { account, suspension } = summary
  const path = accountPath(account.accountId)
  return (
    <Shell
      title={nameOf(account)}
      heading={
        <>
          <a href={ACCOUNTS}>Accounts</a> / <bdi>{nameOf(account)}</bdi>
        </>
      }
    >
      <div class="page stack">
        {done && <Done event={done} />}
        {isRepeat && (
          <p class="note" role="status">
            This was done before. Nothing has changed again.
          </p>
        )}
        {suspension && (
          <p class="fault">
            Suspended since <Moment at={suspension.since} />: <bdi>{suspension.reason}</bdi>
          </p>
        )}
        <nav class="row wrap" aria-label="Actions">
          {actionsOf(summary).map(({ action, label, isMain, isRed }) => (
            <a key={action} class={`button ${isMain ? 'main' : ''} ${isRed ? 'red' : ''}`} href={`${path}/${action}`}>
              {label}
            </a>
          ))}
        </nav>
        <div class="two">
          <div class="stack">
            <Runs runs={runs} path={path} />
            <Lines lines={lines} path={path} />
            <Keys keys={keys} />
          </div>
          <div class="stack">
            <Facts summary={summary} />
            <Sums summary={summary} />
          </div>
        </div>
      </div>
    </Shell>
  )
}

const actionsOf = ({ suspension }: AccountSummary) => [
  { action: 'grant' satisfies ActionName, label: 'Grant credits', isMain: true },
  { action: 'withdraw' satisfies ActionName, label: 'Withdraw credits' },
  { action: 'limits' satisfies ActionName, label: 'Set limits' },
  { action: 'tester' satisfies ActionName, label: 'Set test models' },
  suspension
    ? { action: 'resume' satisfies ActionName, label: 'Resume account' }
    : { action: 'suspend' satisfies ActionName, label: 'Suspend account', isRed: true },
]

/** What an operator has just done, with its event. */
const Done = ({ event }: { event: RecordedEvent }) => {
  const { actor, at } = event.metadata as { actor: { name?: string }; at: string }
  return (
    <p class="done" role="status">
      Done: <code>{event.type}</code> is event {event.revision} of the account, by <bdi>{actor.name}</bdi> at{' '}
      <Moment at={at} />.
    </p>
  )
}

const Facts = ({ summary: { account, tester, suspension, limits, identities } }: { summary: AccountSummary }) => (
  <section class="card" aria-labelledby="facts">
    <div class="head">
      <h2 id="facts">Account</h2>
      <StateBadge isSuspended={suspension !== undefined} isTester={tester} />
    </div>
    <div class="pad">
      <dl class="facts">
        <Fact name="ID">
          <code id="account-id" class="id">
            {account.accountId}
          </code>{' '}
          <CopyButton of="account-id" />
        </Fact>
        <Fact name="Opened">
          <Moment at={account.openedAt} />
        </Fact>
        <Fact name="Signs in with">
          {identities.map(identity => (
            <div key={identityName(identity)}>
              <bdi>{identityName(identity)}</bdi>
            </div>
          ))}
        </Fact>
        <Fact name="Requests">{limitText(limits.requestsPerMinute, 'a minute')}</Fact>
        <Fact name="Runs at a time">{limitText(limits.runsInFlight)}</Fact>
      </dl>
    </div>
  </section>
)

const limitText = (limit: number | undefined, unit = ''): string =>
  limit === undefined ? 'as for all accounts' : `${decimal(limit)} ${unit}`.trim()

const Sums = ({ summary: { balanceMicros, sums } }: { summary: AccountSummary }) => (
  <section class="card" aria-labelledby="sums">
    <div class="head">
      <h2 id="sums">Credits</h2>
    </div>
    <div class="pad">
      <dl class="facts sums">
        <Fact name="Granted">{credits(sums?.grantedMicros ?? 0)}</Fact>
        <Fact name="Withdrawn">{credits(0 - (sums?.withdrawnMicros ?? 0))}</Fact>
        <Fact name="Debited">{credits(0 - (sums?.debitedMicros ?? 0))}</Fact>
        <Fact name="Refunded">{credits(sums?.refundedMicros ?? 0)}</Fact>
        <Fact name="Released">{credits(sums?.releasedMicros ?? 0)}</Fact>
        <Fact name="Balance">
          <strong>{credits(balanceMicros)}</strong>
        </Fact>
      </dl>
    </div>
  </section>
)

export const Fact = ({ name, children }: { name: string; children: Children }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

interface TableProps {
  id: string
  title: string
  /** Columns that phones have no room for are not on them. */
  head: readonly { name: string; isNumber?: boolean; isWide?: boolean }[]
  /** The text for a table without rows. */
  empty: string
  rows: readonly Children[]
}

/** A card with a table. */
export const TableCard = ({ id, title, head, empty, rows }: TableProps) => (
  <div class="card">
    <div class="head">
      <h2 id={id}>{title}</h2>
    </div>
    {rows.length === 0 ? (
      <p class="pad muted">{empty}</p>
    ) : (
      <section class="scroll" tabindex={0} aria-labelledby={id}>
        <table class="fold">
          <thead>
            <tr>
              {head.map(({ name, isNumber, isWide }) => (
                <th key={name} scope="col" class={`${isNumber ? 'num' : ''} ${isWide ? 'hide-small' : ''}`}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{rows}</tbody>
        </table>
      </section>
    )}
  </div>
)

const Runs = ({ runs, path }: { runs: readonly RunRow[]; path: string }) => (
  <TableCard
    id="runs"
    title="Newest runs"
    empty="The account has not run anything yet."
    head={[
      { name: 'Status' },
      { name: 'Model' },
      { name: 'Provider' },
      { name: 'Credits', isNumber: true },
      { name: 'Created', isNumber: true },
    ]}
    rows={runs.map(run => (
      <tr key={run.runId}>
        <td>
          <span class={`badge ${statusOf(run).tone}`}>{statusOf(run).word}</span>
          {run.livemode === false && <span class="badge warn plain tester">test</span>}
        </td>
        <td>
          <a href={`${path}/runs/${run.runId}`} data-item>
            {run.model}
          </a>
        </td>
        <td class="muted">{run.provider}</td>
        <td class="num">{credits(run.chargedMicros - (run.refundedMicros ?? 0) - (run.releasedMicros ?? 0))}</td>
        <td class="num muted">
          <Ago at={run.createdAt} />
        </td>
      </tr>
    ))}
  />
)

const Lines = ({ lines, path }: { lines: readonly StatementRow[]; path: string }) => (
  <TableCard
    id="lines"
    title="Newest lines of the ledger"
    empty="No credits have moved yet."
    head={[
      { name: 'Line' },
      { name: 'For' },
      { name: 'Credits', isNumber: true },
      { name: 'Balance', isNumber: true },
      { name: 'Time', isNumber: true },
    ]}
    rows={lines.map(line => (
      <tr key={line.eventId}>
        <td>{KINDS[line.kind]}</td>
        <td class="muted">
          {line.runId === undefined ? (
            <bdi>{line.reason}</bdi>
          ) : (
            <a href={`${path}/runs/${line.runId}`}>{line.model ?? 'a run'}</a>
          )}
        </td>
        <td class="num">{credits(SIGNS[line.kind] * line.amountMicros)}</td>
        <td class="num muted">{credits(line.balanceAfterMicros)}</td>
        <td class="num muted">
          <Ago at={line.at} />
        </td>
      </tr>
    ))}
  />
)

const KINDS: Record<StatementRow['kind'], string> = {
  grant: 'Grant',
  withdrawal: 'Withdrawal',
  debit: 'Debit',
  refund: 'Refund',
  release: 'Release',
}

const SIGNS: Record<StatementRow['kind'], 1 | -1> = { grant: 1, withdrawal: -1, debit: -1, refund: 1, release: 1 }

const Keys = ({ keys }: { keys: readonly ApiKey[] }) => (
  <TableCard
    id="keys"
    title="API keys"
    empty="The account has no keys."
    head={[{ name: 'Name' }, { name: 'Key' }, { name: 'State' }, { name: 'Last used', isNumber: true }]}
    rows={keys.map(key => (
      <tr key={key.id} id={key.id}>
        <td>
          <bdi>{key.name}</bdi> {!key.livemode && <span class="badge warn plain">test</span>}
        </td>
        <td>
          <code class="muted">…{key.last_four}</code>
        </td>
        <td>
          <span class={`badge ${key.revoked_at === undefined ? 'good' : ''}`}>
            {key.revoked_at === undefined ? 'Active' : 'Revoked'}
          </span>
        </td>
        <td class="num muted">{key.last_used_at?.slice(0, 10) ?? 'never'}</td>
      </tr>
    ))}
  />
)
