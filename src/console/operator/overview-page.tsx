import type { Children } from '#jsx/jsx-runtime'
import { SANDBOX } from '../../../schemas/primitives.ts'
import type { ReportedBreaker } from '../../../schemas/provider-report.ts'
import type { OperatorOverview, ProviderState } from '../../services/operator/overview.ts'
import { PageContext } from '../page-state.ts'
import { Button, Form } from '../parts/form.tsx'
import { decimal, dollars, duration, plural } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { providerName } from '../runs/run-words.ts'
import { Shell } from '../shell.tsx'
import { accountPath, OPERATOR } from './account-words.ts'

/** What the service does, and what needs a person. */
export const OverviewPage = ({ overview, done }: { overview: OperatorOverview; done?: string | undefined }) => (
  <Shell title="Overview">
    <div class="page stack">
      {done !== undefined && (
        <p class="done" role="status">
          {done}
        </p>
      )}
      <Figures overview={overview} />
      <NeedsYou overview={overview} />
      <Providers overview={overview} />
      {overview.queue.byEndpoint.length > 0 && <Queues overview={overview} />}
    </div>
  </Shell>
)

const Figures = ({ overview: { activity, queue, webhooks, viewsBehindMs } }: { overview: OperatorOverview }) => (
  <PageContext.Consumer>
    {({ nowMs }) => (
      <section class="card figures five" aria-label="Now">
        {activity && (
          <Figure
            name="Runs a minute"
            value={decimal(activity.runsAMinute)}
            note={`${plural(activity.runs, 'run')} in ${span(nowMs - activity.sinceMs)}`}
          />
        )}
        {activity && activity.runs > 0 && (
          <Figure
            name="Failed"
            value={`${decimal(Math.round((activity.failed / activity.runs) * 1000) / 10)} %`}
            note={`${decimal(activity.failed)} of ${decimal(activity.runs)}`}
          />
        )}
        <Figure
          name="Oldest waiting"
          value={queue.oldestAt === undefined ? 'none' : duration(Math.max(0, nowMs - Date.parse(queue.oldestAt)))}
          note={queue.isMore ? `queue of more than ${decimal(queue.waiting)}` : `queue of ${decimal(queue.waiting)}`}
        />
        <Figure
          name="Webhooks failing"
          value={decimal(webhooks.reduce((sum, { waiting }) => sum + waiting, 0))}
          note={webhooks.length === 0 ? 'after three attempts' : `to ${plural(webhooks.length, 'receiver')}`}
        />
        <Figure
          name="Views behind"
          value={viewsBehindMs === undefined ? 'over 5 s' : duration(viewsBehindMs)}
          note={viewsBehindMs === undefined ? 'they may be rebuilt' : 'to reach the end of the log'}
        />
      </section>
    )}
  </PageContext.Consumer>
)

const Figure = ({ name, value, note }: { name: string; value: string; note: string }) => (
  <div>
    <span class="muted">{name}</span>
    <strong>{value}</strong>
    <span class="small faint">{note}</span>
  </div>
)

/** The time that the sums are of. */
const span = (ms: number): string =>
  ms >= 59 * 60_000 ? 'the last hour' : `the ${duration(1000 * Math.ceil(ms / 1000))} since the start`

interface Need {
  key: string
  subject: string
  tone: 'bad' | 'warn'
  text: Children
  action?: Children
}

const NeedsYou = ({ overview }: { overview: OperatorOverview }) => {
  const needs = needsOf(overview)
  return (
    <section class="card" aria-labelledby="needs">
      <div class="head">
        <h2 id="needs">Needs you</h2>
        <span class="small faint">{needs.length > 0 && plural(needs.length, 'matter')}</span>
      </div>
      {needs.length === 0 ? (
        <p class="pad muted">Nothing. Providers, seals, models and webhooks are as they should be.</p>
      ) : (
        <ul class="needs">
          {needs.map(({ key, subject, tone, text, action }) => (
            <li key={key}>
              <span>
                <span class={`badge ${tone}`}>{subject}</span>
              </span>
              <span>{text}</span>
              <span class="end">{action}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const needsOf = ({ alerts, providers, retiring, webhooks, activity }: OperatorOverview): Need[] => [
  ...alerts.map((alert): Need => {
    if (alert.kind === 'seal_sink_fails')
      return {
        key: `sink ${alert.sink}`,
        subject: 'Seals',
        tone: 'bad',
        text: `The sink ${alert.sink} gets no copies.`,
      }
    const { provider, account, reason } = alert
    return {
      key: `account ${provider} ${account}`,
      subject: `${provider} ${account}`,
      tone: 'bad',
      text: REASONS[reason],
      action: <TryAgain provider={provider} account={account} />,
    }
  }),
  ...providers.flatMap(({ provider, openBreakers }) =>
    openBreakers
      .filter(({ account }) => !alerts.some(alert => alert.kind === 'provider_refuses' && alert.account === account))
      .map(
        ({ account, model, kind, until }): Need => ({
          key: `breaker ${provider} ${account} ${model}`,
          subject: model === undefined ? `${provider} ${account}` : `${provider} ${model}`,
          tone: 'warn',
          text: (
            <>
              {REASONS[kind]} It gets no runs until <Moment at={until} />.
            </>
          ),
          action: <TryAgain provider={provider} account={account} model={model} />,
        }),
      ),
  ),
  ...retiring.map(
    ({ model, retiresAt, replacedBy }): Need => ({
      key: `retires ${model} ${retiresAt}`,
      subject: model,
      tone: 'warn',
      text: (
        <>
          Its last provider turns it off at <Moment at={retiresAt} />
          {replacedBy === undefined ? '. Nothing replaces it.' : `; ${replacedBy} replaces it.`}
        </>
      ),
      action: (
        <a class="button quiet" href={`${OPERATOR}/catalog/${model}`}>
          Look at the family
        </a>
      ),
    }),
  ),
  ...webhooks.map(
    ({ accountId, host, waiting, attempts }): Need => ({
      key: `webhook ${accountId} ${host}`,
      subject: 'Webhooks',
      tone: 'warn',
      text: `${plural(waiting, 'webhook')} to ${host} failed up to ${plural(attempts, 'time')}.`,
      action: (
        <a class="button quiet" href={accountPath(accountId)}>
          Look at the account
        </a>
      ),
    }),
  ),
  ...(activity?.belowCost ?? []).map(
    ({ model, provider, earnedUsdMicros, costUsdMicros }): Need => ({
      key: `cost ${model} ${provider}`,
      subject: model,
      tone: 'bad',
      text: `Sold below cost at ${provider}: ${dollars(earnedUsdMicros)} earned, ${dollars(costUsdMicros)} charged.`,
      action: (
        <a class="button quiet" href={`${OPERATOR}/catalog/${model}`}>
          Look at the price
        </a>
      ),
    }),
  ),
]

const TryAgain = ({ provider, account, model }: { provider: string; account: string; model?: string | undefined }) => (
  <Form action={`${OPERATOR}/retry`}>
    <input type="hidden" name="provider" value={provider} />
    <input type="hidden" name="account" value={account} />
    {model !== undefined && <input type="hidden" name="model" value={model} />}
    <Button>Try again now</Button>
  </Form>
)

const REASONS: Record<ReportedBreaker['kind'], string> = {
  unauthorized: 'The provider refuses the key. Its runs go to others, or wait.',
  out_of_quota: 'The account has no credit or quota left. Its runs go to others, or wait.',
  rate_limited: 'The provider limits the rate of requests.',
  overloaded: 'Calls to the provider fail again and again.',
  unreachable: 'The provider does not answer.',
  gone: 'The provider does not offer this model any more.',
}

const Providers = ({ overview: { providers, activity } }: { overview: OperatorOverview }) => (
  <div class="card">
    <div class="head">
      <h2 id="providers">Providers</h2>
      <PageContext.Consumer>
        {({ nowMs }) => <span class="small faint">{activity && `in ${span(nowMs - activity.sinceMs)}`}</span>}
      </PageContext.Consumer>
    </div>
    <section class="scroll" tabindex={0} aria-labelledby="providers">
      <table class="fold">
        <thead>
          <tr>
            <th scope="col">Provider</th>
            <th scope="col">Health</th>
            {['Calls', 'Runs', 'Failed', 'p50', 'p99', 'Cost USD', 'Margin'].map(name => (
              <th key={name} scope="col" class="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {providers.map(state => (
            <ProviderRow key={state.provider} state={state} />
          ))}
        </tbody>
      </table>
    </section>
    {providers.every(({ provider }) => provider === SANDBOX) && (
      <p class="pad small faint">No provider has a key, so the sandbox makes samples for every model.</p>
    )}
  </div>
)

const ProviderRow = ({ state: { provider, state, reason, calls, maxCalls, activity } }: { state: ProviderState }) => {
  const margin = activity && marginOf(activity)
  const isLoss = margin !== undefined && margin < 0
  return (
    <tr>
      <td>
        <strong class="cut">{providerName(provider)}</strong>
      </td>
      <td>
        <span class={`badge ${HEALTH[state].tone}`} title={reason}>
          {HEALTH[state].word}
        </span>
      </td>
      <td class="num muted hide-small">{maxCalls === 0 ? '–' : `${decimal(calls)} of ${decimal(maxCalls)}`}</td>
      <td class="num">
        {decimal(activity?.runs ?? 0)}
        <span class="when-folded"> runs</span>
      </td>
      <td class="num">
        {decimal(activity?.failed ?? 0)}
        <span class="when-folded"> failed</span>
      </td>
      <td class="num muted hide-small">{activity?.p50Ms === undefined ? '–' : duration(activity.p50Ms)}</td>
      <td class="num muted hide-small">{activity?.p99Ms === undefined ? '–' : duration(activity.p99Ms)}</td>
      <td class="num muted">
        <span class="when-folded">cost </span>
        {activity ? cost(activity) : '–'}
      </td>
      <td class={isLoss ? 'num red' : 'num'}>
        <span class="when-folded">margin </span>
        {margin === undefined ? '–' : `${decimal(margin)} %`}
      </td>
    </tr>
  )
}

const HEALTH: Record<ProviderState['state'], { word: string; tone: string }> = {
  on: { word: 'Healthy', tone: 'good' },
  resting: { word: 'Partly resting', tone: 'warn' },
  disabled: { word: 'Turned off', tone: '' },
  'no reports': { word: 'No reports', tone: 'warn' },
}

type Sums = NonNullable<ProviderState['activity']>

/** In percent of what was earned; undefined if a part is unknown, or nothing was paid. */
const marginOf = ({ earnedUsdMicros, costUsdMicros, unknown }: Sums): number | undefined =>
  unknown > 0 || earnedUsdMicros === 0 || costUsdMicros === 0
    ? undefined
    : Math.round(((earnedUsdMicros - costUsdMicros) / earnedUsdMicros) * 100)

const cost = ({ costUsdMicros, unknown }: Sums): string =>
  unknown > 0 ? `${dollars(costUsdMicros)} + ${decimal(unknown)} unknown` : dollars(costUsdMicros)

const Queues = ({ overview: { queue } }: { overview: OperatorOverview }) => (
  <section class="card" aria-labelledby="queues">
    <div class="head">
      <h2 id="queues">Queues</h2>
      <span class="small faint">runs that wait to start</span>
    </div>
    <table>
      <thead>
        <tr>
          <th scope="col">Endpoint</th>
          <th scope="col" class="num">
            Waiting
          </th>
        </tr>
      </thead>
      <tbody>
        {queue.byEndpoint.map(({ endpoint, waiting }) => (
          <tr key={endpoint}>
            <td>{endpoint}</td>
            <td class="num">{decimal(waiting)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
