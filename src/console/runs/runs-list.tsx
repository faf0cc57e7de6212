import type { Children } from '#jsx/jsx-runtime'
import type { Run } from '../../../schemas/api/run.ts'
import type { RunBar } from '../../services/runs/run-counts.ts'
import { Icon } from '../parts/icon.tsx'
import { Ago } from '../parts/time.tsx'
import { isoOf, periodOf, timeText } from './histogram.tsx'
import { isOpen, type RunFile } from './run-facts.ts'
import { creditsOf, failureOf, promptOf, refundOf, statusOf } from './run-words.ts'
import { addressOf, type ShownFilter } from './runs-filter.ts'

/** A run in the list. */
export interface ListedRun {
  run: Run
  file: RunFile | undefined
  modelName: string
  keyName: string | undefined
}

export interface ListPartProps {
  runs: readonly ListedRun[]
  /** The cursor of the next page. */
  next: string | null
  filter: ShownFilter
  /** How far back runs were searched if the page is not full although there are older ones. */
  searchedToMs?: number | undefined
  /** The newest part of the period before that time with runs that match, if it is known. */
  nextBar?: RunBar | undefined
}

/** Characters of a text in a tile. */
const MAX_TEXT = 280

/** The tiles of a page, and the way to the next. It is a fragment, too: the next page replaces the last tile. */
export const Tiles = ({ runs, next, ...rest }: ListPartProps) => (
  <>
    {runs.map(listed => (
      <Tile key={listed.run.run_id} listed={listed} />
    ))}
    {next !== null && (
      <li class="more" id="more">
        <More next={next} {...rest} />
      </li>
    )}
  </>
)

const Tile = ({ listed }: { listed: ListedRun }) => {
  const { run, modelName } = listed
  return (
    <li class="tile">
      <div class="view">{viewOf(listed)}</div>
      <div class="about">
        <a class="cut" href={pathOf(run)} data-item dir="auto">
          {titleOf(listed)}
        </a>
        <div class="row between small faint">
          <span class="cut">{modelName}</span>
          <span class="num">
            {run.status !== 'failed' && creditsOf(costOf(run))}
            <span class="hide-small">
              {run.status !== 'failed' && ' · '}
              <Ago at={run.created_at} />
            </span>
          </span>
        </div>
      </div>
    </li>
  )
}

const pathOf = ({ run_id: id }: Run) => `/console/runs/${id}`

const titleOf = ({ run, modelName }: ListedRun): string => promptOf(run.input)?.slice(0, 200) ?? `A run of ${modelName}`

const costOf = ({ credits_charged: charged, credits_refunded: refunded = 0, credits_released: released = 0 }: Run) =>
  Math.round((charged - refunded - released) * 1_000_000) / 1_000_000

/** What a run made, in small, or why there is nothing to see. */
const viewOf = (listed: ListedRun): Children => {
  const { run, file } = listed
  if (run.status === 'failed')
    return (
      <div class={`words ${statusOf(run).tone}`}>
        <strong>{failureOf(run)}</strong>
        <span class="small">{refundOf(run)}</span>
      </div>
    )
  if (isOpen(run))
    return (
      <div class="words">
        <strong>{statusOf(run).word}</strong>
        <span class="small faint">{run.status === 'queued' ? 'for a provider' : 'not finished yet'}</span>
      </div>
    )
  if (file?.mimeType.startsWith('image/'))
    return <img src={`${pathOf(run)}/thumbnail`} alt="" loading="lazy" width="320" height="240" />
  if (file?.mimeType.startsWith('video/'))
    return (
      <>
        <video src={`${file.url}#t=0.1`} preload="metadata" muted playsinline tabindex={-1} />
        <span class="film-sign">
          <Icon name="play" />
        </span>
      </>
    )
  if (file?.mimeType.startsWith('audio/'))
    return (
      <div class="words">
        {/* biome-ignore lint/a11y/useMediaCaption: models make no captions */}
        <audio src={file.url} controls preload="metadata" aria-label={titleOf(listed)} />
      </div>
    )
  if (run.output?.deleted_at !== undefined)
    return (
      <div class="words">
        <span class="small faint">Its files were deleted</span>
      </div>
    )
  const calls = run.output?.tool_calls?.map(call => `${call.function.name}(${call.function.arguments})`).join('\n')
  return (
    <p class="tile-text" dir="auto">
      {(run.output?.text || calls || '').slice(0, MAX_TEXT)}
    </p>
  )
}

/** The same as rows of a table. */
export const Rows = ({ runs, next, ...rest }: ListPartProps) => (
  <>
    {runs.map(listed => (
      <Row key={listed.run.run_id} listed={listed} />
    ))}
    {next !== null && (
      <tr id="more">
        <td colspan={6} class="more">
          <More next={next} {...rest} />
        </td>
      </tr>
    )}
  </>
)

const Row = ({ listed }: { listed: ListedRun }) => {
  const { run, modelName, keyName } = listed
  const { word, tone } = statusOf(run)
  return (
    <tr>
      <td>
        <span class={`badge ${tone}`} {...(run.error && { title: run.error.message })}>
          {run.status === 'failed' ? failureOf(run) : word}
        </span>
      </td>
      <td class="title">
        <a class="cut" href={pathOf(run)} data-item dir="auto">
          {titleOf(listed)}
        </a>
        {run.label !== undefined && (
          <span class="badge plain cut">
            <bdi>{run.label}</bdi>
          </span>
        )}
      </td>
      <td class="hide-small muted">{modelName}</td>
      <td class="hide-small muted">
        <bdi>{keyName ?? 'console'}</bdi>
      </td>
      <td class="num">{creditsOf(costOf(run)).split(' ')[0]}</td>
      <td class="num muted hide-small">
        <Ago at={run.created_at} />
      </td>
    </tr>
  )
}

const More = ({ next, filter, searchedToMs, nextBar }: Omit<ListPartProps, 'runs'> & { next: string }) => {
  const href = addressOf(filter, { cursor: next })
  return (
    <>
      {searchedToMs !== undefined && <p class="muted">Searched back to {timeText(isoOf(searchedToMs))} UTC.</p>}
      <a class="button" href={href} hx-get={href} hx-target="#more" hx-swap="outerHTML">
        {searchedToMs === undefined ? 'Load more' : 'Search on'}
      </a>
      {nextBar && (
        <a class="button" href={addressOf(filter, periodOf(nextBar))}>
          {`Show those of ${timeText(isoOf(nextBar.fromMs))}`}
        </a>
      )}
    </>
  )
}
