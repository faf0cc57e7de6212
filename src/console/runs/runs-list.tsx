import type { Children } from '#jsx/jsx-runtime'
import type { Run } from '../../../schemas/api/run.ts'
import { toMicros } from '../../domain/money.ts'
import type { RunBar } from '../../services/runs/run-counts.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { alignerOf } from '../parts/numbers.tsx'
import { Placed } from '../parts/own.tsx'
import { SmallSound } from '../parts/sound.tsx'
import { duration } from '../parts/text.ts'
import { Ago } from '../parts/time.tsx'
import { isoOf, periodOf, timeText } from './histogram.tsx'
import { isOpen, type RunFile } from './run-facts.ts'
import { beginningOf, creditsOf, failureOf, refundOf, statusOf, titleOf } from './run-words.ts'
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
    <li class={run.provider === 'sandbox' ? 'tile sandbox' : 'tile'}>
      <div class="view">{viewOf(listed)}</div>
      <div class="about">
        <Title listed={listed} />
        <div class="row between wrap small faint">
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

const Title = ({ listed }: { listed: ListedRun }) => (
  <Placed>
    {placed => (
      <a class="cut" href={placed(pathOf(listed.run))} data-item dir="auto">
        {titleOf(listed)}
      </a>
    )}
  </Placed>
)

const pathOf = ({ run_id: id }: Run) => `/console/runs/${id}`

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
    return (
      <Placed>
        {placed => <img src={placed(`${pathOf(run)}/thumbnail`)} alt="" loading="lazy" width="320" height="240" />}
      </Placed>
    )
  if (file?.mimeType.startsWith('video/'))
    return (
      <>
        <video src={`${file.url}#t=0.1`} preload="metadata" muted loop playsinline tabindex={-1} />
        <span class="on-picture">
          <Icon name="play" />
        </span>
      </>
    )
  if (file?.mimeType.startsWith('audio/')) return <SmallSound src={file.url} label={titleOf(listed)} />
  if (run.output?.deleted_at !== undefined)
    return (
      <div class="words">
        <span class="small faint">Its files were deleted</span>
      </div>
    )
  const calls = run.output?.tool_calls?.map(call => `${call.function.name}(${call.function.arguments})`).join('\n')
  return (
    <p class="tile-text" dir="auto">
      {beginningOf(run.output?.text || calls || '', MAX_TEXT)}
    </p>
  )
}

/** The same as a table. */
export const RunsTable = (props: ListPartProps) => (
  <table class="runs-table fold">
    <thead>
      <tr>
        <th>Asked for</th>
        <th>Status</th>
        <th>Model</th>
        <th>Key</th>
        <th class="num">Took</th>
        <th class="num">Credits</th>
        <th class="num">When</th>
      </tr>
    </thead>
    <tbody>
      <Rows {...props} />
    </tbody>
  </table>
)

export const Rows = ({ runs, next, ...rest }: ListPartProps) => {
  const align = alignerOf(runs.map(({ run }) => toMicros(costOf(run))))
  return (
    <>
      {runs.map(listed => (
        <Row key={listed.run.run_id} listed={listed} align={align} />
      ))}
      {next !== null && (
        <tr id="more">
          <td colspan={7} class="more">
            <More next={next} {...rest} />
          </td>
        </tr>
      )}
    </>
  )
}

const Row = ({ listed, align }: { listed: ListedRun; align: ReturnType<typeof alignerOf> }) => {
  const { run, modelName, keyName } = listed
  const { word, tone } = statusOf(run)
  const { created_at: start, completed_at: end } = run
  const cost = costOf(run)
  return (
    <tr>
      <td class="title">
        <span class="row">
          <Thumb listed={listed} />
          <Title listed={listed} />
          {run.error && failureOf(run) !== word && (
            <span class="red small cut hide-small" title={run.error.message}>
              {failureOf(run)}
            </span>
          )}
          {run.label !== undefined && (
            <span class="badge plain cut hide-small" title={run.label}>
              <bdi class="cut">{run.label}</bdi>
            </span>
          )}
        </span>
      </td>
      <td>
        <span class={`badge ${tone}`}>{word}</span>
      </td>
      <td class="muted">{modelName}</td>
      <td class="hide-small muted">
        <bdi>{keyName ?? 'console'}</bdi>
      </td>
      <td class="num muted hide-small">{end !== undefined && duration(Date.parse(end) - Date.parse(start))}</td>
      <td class="num" {...align(toMicros(cost))}>
        {creditsOf(cost).split(' ')[0]}
      </td>
      <td class="num muted">
        <Ago at={start} />
      </td>
    </tr>
  )
}

/** What a run made, as small as a row, or what kind of thing it is. */
const Thumb = ({ listed: { run, file } }: { listed: ListedRun }) => {
  const [kind = ''] = (run.status === 'completed' ? file?.mimeType : undefined)?.split('/') ?? []
  if (kind === 'image') return <img class="thumb" src={`${pathOf(run)}/thumbnail`} alt="" loading="lazy" />
  if (kind === 'video')
    return <video class="thumb" src={`${file?.url}#t=0.1`} preload="metadata" muted playsinline tabindex={-1} />
  return (
    <span class="thumb">
      <Icon name={ICONS[run.status === 'completed' ? kind : run.status] ?? 'text'} />
    </span>
  )
}

const ICONS: Readonly<Record<string, IconName>> = {
  audio: 'audio-lines',
  failed: 'circle-alert',
  queued: 'ellipsis',
  processing: 'ellipsis',
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
