import type { Children } from '#jsx/jsx-runtime'
import type { WebhookDelivery } from '../../../schemas/api/delivery.ts'
import type { ApiKey } from '../../../schemas/api/key.ts'
import type { RecordedEvent } from '../../../schemas/events.ts'
import { identityName } from '../../domain/login/identity.ts'
import type { AccountSummary } from '../../services/accounts/accounts.ts'
import { StatementCard, type StatementCardProps } from '../credits/statement-card.tsx'
import { KeyTable } from '../keys/key-table.tsx'
import { CopyButton } from '../parts/code.tsx'
import { Fact } from '../parts/fact.tsx'
import { LookingAt } from '../parts/own.tsx'
import { credits, decimal } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { type ListedRun, Tiles } from '../runs/runs-list.tsx'
import { type SessionItem, SessionTable } from '../settings/session-table.tsx'
import { Shell } from '../shell.tsx'
import { Deliveries } from '../webhooks/deliveries.tsx'
import { ACCOUNTS, type ActionName, accountPath, doneWords, nameOf } from './account-words.ts'
import { StateBadge } from './accounts-page.tsx'

export interface AccountProps {
  summary: AccountSummary
  /** The newest of what the owner sees. */
  runs: readonly ListedRun[]
  statement: Pick<StatementCardProps, 'lines' | 'period'>
  deliveries: readonly WebhookDelivery[]
  keys: readonly ApiKey[]
  sessions: readonly SessionItem[]
  /** The change that an operator has just made. */
  done?: RecordedEvent | undefined
  /** Whether the change had been made before. */
  isRepeat: boolean
}

/** An account for operators: what its owner sees, read-only, and what operators may change. */
export const AccountPage = (props: AccountProps) => {
  const { summary, done, isRepeat } = props
  const { account, suspension } = summary
  const path = accountPath(account.accountId)
  return (
    <Shell
      title={nameOf(account)}
      scripts={['runs.js', 'sound.js']}
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
        <nav class="row wrap actions" aria-label="Actions">
          {actionsOf(summary).map(({ action, label, isMain, isRed }) => (
            <a key={action} class={`button ${isMain ? 'main' : ''} ${isRed ? 'red' : ''}`} href={`${path}/${action}`}>
              {label}
            </a>
          ))}
        </nav>
        <div class="halves">
          <Facts summary={summary} />
          <Sums summary={summary} />
        </div>
        <p class="note">
          You see what <bdi>{nameOf(account)}</bdi> sees. Nothing can be changed here but by the actions above.
        </p>
        <LookingAt path={path}>
          <OwnersView {...props} />
        </LookingAt>
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

/** What an operator has just done. Its title is the event. */
const Done = ({ event }: { event: RecordedEvent }) => (
  <p class="done" role="status" title={`Event ${event.revision} of the account: ${event.type}`}>
    {doneWords(event)}
  </p>
)

const Facts = ({
  summary: { account, tester, suspension, limits, retentionDays, identities },
}: {
  summary: AccountSummary
}) => (
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
          </code>
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
        {retentionDays === 0 && <Fact name="Retention">nothing of its runs is kept</Fact>}
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

const OwnersView = ({ runs, statement, deliveries, keys, sessions }: AccountProps) => (
  <>
    <h2>Newest runs</h2>
    {runs.length > 0 ? (
      <ul class="gallery" aria-label="Newest runs">
        <Tiles runs={runs} next={null} filter={{ range: '1y', view: 'gallery' }} />
      </ul>
    ) : (
      <p class="card pad muted">The account has not run anything yet.</p>
    )}
    <StatementCard view={{ range: '1y', by: 'model' }} {...statement} />
    <Deliveries deliveries={deliveries} status={undefined} next={undefined} />
    <section class="card" aria-labelledby="keys">
      <div class="head">
        <h2 id="keys">API keys</h2>
      </div>
      {keys.length > 0 ? <KeyTable keys={keys} /> : <p class="pad muted">The account has no active keys.</p>}
    </section>
    <SessionTable sessions={sessions} />
  </>
)
