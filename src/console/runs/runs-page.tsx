import { Code } from '../parts/code.tsx'
import { Icon } from '../parts/icon.tsx'
import { Shell } from '../shell.tsx'
import { type Choices, Filters } from './filters.tsx'
import { Histogram, type HistogramProps } from './histogram.tsx'
import { addressOf } from './runs-filter.ts'
import { type ListPartProps, RunsTable, Tiles } from './runs-list.tsx'

interface RunsPageProps extends ListPartProps {
  histogram: Omit<HistogramProps, 'filter'>
  choices: Choices
  /** The first request to send, for an account without any run. */
  firstRequest: readonly string[] | undefined
}

/** The runs of an account, as a gallery or a list. */
export const RunsPage = (props: RunsPageProps) => {
  const { filter, histogram, choices, runs, next, firstRequest } = props
  return (
    <Shell title="Runs" scripts={['runs.js', 'sound.js']}>
      <div class="page stack">
        {firstRequest === undefined && (
          <>
            <div class="row between wrap">
              <Filters filter={filter} choices={choices} />
              <nav class="segments run-views" aria-label="View">
                {(['gallery', 'list'] as const).map(view => (
                  <a
                    key={view}
                    href={addressOf(filter, { view })}
                    {...(filter.view === view && { 'aria-current': 'true' as const })}
                  >
                    {view === 'gallery' ? 'Gallery' : 'List'}
                  </a>
                ))}
              </nav>
            </div>
            <Histogram {...histogram} filter={filter} />
          </>
        )}
        {runs.length > 0 || next !== null ? <List {...props} /> : <Empty {...props} />}
      </div>
    </Shell>
  )
}

const List = ({ runs, next, filter, searchedToMs, nextBar }: RunsPageProps) =>
  filter.view === 'gallery' ? (
    <ul class="gallery" aria-label="Runs">
      <Tiles {...{ runs, next, filter, searchedToMs, nextBar }} />
    </ul>
  ) : (
    <section class="card scroll" aria-label="Runs" tabindex={0}>
      <RunsTable {...{ runs, next, filter, searchedToMs, nextBar }} />
    </section>
  )

/** The first step, or the way to the runs that the filter hides. */
const Empty = ({ filter, firstRequest }: RunsPageProps) =>
  firstRequest ? (
    <section class="card">
      <div class="empty">
        <h2>Your first run starts here</h2>
        <p class="muted">
          Everything that you run shows up on this page, with its result, its price and what happened.
        </p>
        <a class="button main" href="/console/playground">
          <Icon name="play" />
          Open the playground
        </a>
      </div>
      <div class="pad">
        <Code id="first-request" label="Or send this request">
          {firstRequest.join('\n')}
        </Code>
      </div>
    </section>
  ) : (
    <section class="card empty">
      <h2>No run matches</h2>
      <p class="muted">No run of this range has all that the filters ask for.</p>
      <div class="row wrap">
        <a class="button" href={addressOf({ range: filter.range, view: filter.view })}>
          Clear the filters
        </a>
        {filter.range !== '1y' && (
          <a class="button" href={addressOf(filter, { range: '1y', from: undefined, to: undefined })}>
            Search the last year
          </a>
        )}
      </div>
    </section>
  )
