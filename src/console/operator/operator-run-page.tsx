import type { RunHistory } from '../../services/runs/run-history.ts'
import { credits } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { JsonView } from '../runs/json-view.tsx'
import { statusOf } from '../runs/run-words.ts'
import { type Course, Waterfall } from '../runs/waterfall.tsx'
import { Shell } from '../shell.tsx'
import { Fact, TableCard } from './account-page.tsx'
import { ACCOUNTS, accountPath } from './account-words.ts'

interface RunProps {
  /** The owner of the account. */
  owner: string
  history: RunHistory
  course: Course
}

/** A run of an account for operators: its facts, its course, and its events. Nothing can be changed. */
export const OperatorRunPage = ({ owner, history: { run, events, lines }, course }: RunProps) => (
  <Shell
    title={`Run of ${run.model}`}
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
    <div class="page two">
      <div class="stack">
        <Waterfall facts={course} />
        <TableCard
          id="events"
          title="Events"
          empty="The log has no event of this run in reach."
          head={[{ name: 'Event' }, { name: 'Request' }, { name: 'Time', isNumber: true }]}
          rows={events.map(({ id, type, revision, metadata: { at, requestId } }) => (
            <tr key={id}>
              <td>
                {type} <span class="faint small">event {revision}</span>
              </td>
              <td>
                <code class="muted small">{requestId}</code>
              </td>
              <td class="num muted">
                <Moment at={at} />
              </td>
            </tr>
          ))}
        />
        <section class="card" aria-labelledby="recorded">
          <div class="head">
            <h2 id="recorded">Events as recorded</h2>
          </div>
          <div class="pad">
            <JsonView id="run-json" label="Events" value={events.map(({ type, data }) => ({ type, data }))} />
          </div>
        </section>
      </div>
      <section class="card" aria-labelledby="facts">
        <div class="head">
          <h2 id="facts">Run</h2>
          <span class={`badge ${statusOf(run).tone}`}>{statusOf(run).word}</span>
        </div>
        <div class="pad">
          <dl class="facts">
            <Fact name="ID">
              <code>{run.runId}</code>
            </Fact>
            <Fact name="Endpoint">{run.endpoint}</Fact>
            <Fact name="Provider">{run.provider ?? 'none yet'}</Fact>
            {run.error && <Fact name="Error">{run.error.message}</Fact>}
            <Fact name="Charged">{credits(run.chargedMicros)}</Fact>
            <Fact name="Refunded">{credits(run.refundedMicros ?? 0)}</Fact>
            <Fact name="Released">{credits(run.releasedMicros ?? 0)}</Fact>
            <Fact name="Ledger lines">{lines.length}</Fact>
            <Fact name="Created">
              <Moment at={run.createdAt} />
            </Fact>
            {run.completedAt !== undefined && (
              <Fact name="Ended">
                <Moment at={run.completedAt} />
              </Fact>
            )}
          </dl>
        </div>
      </section>
    </div>
  </Shell>
)
