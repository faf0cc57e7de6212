import type { RunHistory } from '../../services/runs/run-history.ts'
import { LookingAt } from '../parts/own.tsx'
import { Moment } from '../parts/time.tsx'
import type { RunFacts } from '../runs/run-facts.ts'
import { RunView } from '../runs/run-page.tsx'
import { Shell } from '../shell.tsx'
import { TableCard } from './account-page.tsx'
import { ACCOUNTS, accountPath } from './account-words.ts'

interface RunProps {
  /** The owner of the account. */
  owner: string
  facts: RunFacts
  history: RunHistory
}

/** A run as its owner sees it, and the requests that caused its events. Nothing can be changed. */
export const OperatorRunPage = ({ owner, facts, history: { run, events } }: RunProps) => (
  <Shell
    title={`Run of ${run.model}`}
    scripts={['runs.js', 'sound.js']}
    heading={
      <>
        <a href={ACCOUNTS}>Accounts</a> /{' '}
        <a href={accountPath(run.accountId)}>
          <bdi>{owner}</bdi>
        </a>{' '}
        / {run.model}
      </>
    }
  >
    <div class="page stack">
      <p class="note">
        You see what <bdi>{owner}</bdi> sees. Nothing can be changed here.
      </p>
      <OperatorRunView accountId={run.accountId} facts={facts} />
      <TableCard
        id="events"
        title="Requests of its events"
        empty="The log has no event of this run in reach."
        head={[{ name: 'Event' }, { name: 'Request' }, { name: 'Time', isNumber: true, isWide: true }]}
        rows={events.map(({ id, type, revision, metadata: { at, requestId } }) => (
          <tr key={id}>
            <td>
              {type} <span class="faint small">event {revision}</span>
            </td>
            <td>
              <code class="muted small">{requestId}</code>
            </td>
            <td class="num muted hide-small">
              <Moment at={at} />
            </td>
          </tr>
        ))}
      />
    </div>
  </Shell>
)

/** It is a fragment, too: the page of an open run replaces it. */
export const OperatorRunView = ({ accountId, facts }: { accountId: string; facts: RunFacts }) => (
  <LookingAt path={accountPath(accountId)}>
    <RunView facts={facts} />
  </LookingAt>
)
