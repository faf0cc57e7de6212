import type { RunBar, RunSums } from '../../services/runs/run-counts.ts'
import { alignerOf } from '../parts/numbers.tsx'
import { credits, decimal, plural } from '../parts/text.ts'
import { addressOf, type ShownFilter } from './runs-filter.ts'

export interface HistogramProps {
  bars: readonly RunBar[]
  /** Whether a bar is part of the list. */
  isShown(bar: RunBar): boolean
  /** What the list holds. */
  sums: RunSums
  /** If the range has too many runs, those of this time or later are counted. */
  countedFrom: string | undefined
  filter: ShownFilter
}

/** The height of the chart, in its own units. Each bar is one unit wide. */
const HEIGHT = 100

/** The gap between bars, of a bar's width. */
const GAP = 0.18

/** The runs of the range over time, failures stacked in red. A click or a drag narrows the list. */
export const Histogram = ({ bars, isShown, sums, countedFrom, filter }: HistogramProps) => {
  const most = Math.max(1, ...bars.map(({ runs, failures }) => Math.max(runs, failures)))
  const align = alignerOf(bars.map(({ creditsMicros }) => creditsMicros))
  return (
    <section class="card pad histogram" aria-label="Runs over time">
      <p class="row between wrap small faint">
        <span>
          <strong>{plural(sums.runs, 'run')}</strong>
          {sums.failures > 0 && ` · ${decimal(sums.failures)} failed and refunded`}
          {` · ${credits(sums.creditsMicros)} credits`}
          {countedFrom !== undefined && ` · counted from ${timeText(countedFrom)} UTC on`}
        </span>
        <span class="hide-small" id="dragged">
          click or drag to narrow
        </span>
      </p>
      <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" class="bars" aria-hidden="true">
        {bars.map((bar, index) => (
          <Bar key={bar.fromMs} bar={bar} index={index} most={most} isShown={isShown(bar)} filter={filter} />
        ))}
      </svg>
      <div class="row between small faint axis" aria-hidden="true">
        {marksOf(bars).map(text => (
          <span key={text}>{text}</span>
        ))}
      </div>
      <details class="small">
        <summary>As a table</summary>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>From (UTC)</th>
                <th class="num">Runs</th>
                <th class="num">Failed</th>
                <th class="num">Credits</th>
              </tr>
            </thead>
            <tbody>
              {bars
                .filter(({ runs, failures }) => runs + failures > 0)
                .map(bar => (
                  <tr key={bar.fromMs}>
                    <td>
                      <a href={addressOf(filter, periodOf(bar))}>{timeText(isoOf(bar.fromMs))}</a>
                    </td>
                    <td class="num">{decimal(bar.runs)}</td>
                    <td class="num">{decimal(bar.failures)}</td>
                    <td class="num" {...align(bar.creditsMicros)}>
                      {credits(bar.creditsMicros)}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  )
}

interface BarProps {
  bar: RunBar
  index: number
  most: number
  isShown: boolean
  filter: ShownFilter
}

/** The whole column can be clicked, also above a low bar. The table below says the same to keyboards and readers. */
const Bar = ({ bar, index, most, isShown, filter }: BarProps) => {
  const { runs, failures } = bar
  const height = ((Math.max(runs, failures) / most) * HEIGHT * 0.98).toFixed(2)
  const failed = ((failures / most) * HEIGHT * 0.98).toFixed(2)
  const top = (HEIGHT - Number(height)).toFixed(2)
  const [x, width] = [(index + GAP / 2).toFixed(2), (1 - GAP).toFixed(2)]
  const { from, to } = periodOf(bar)
  return (
    <a
      href={addressOf(filter, { from, to })}
      tabindex={-1}
      data-from={from}
      data-to={to}
      class={isShown ? 'shown' : ''}
    >
      <title>{`${timeText(from)} UTC: ${plural(runs, 'run')}${failures > 0 ? `, ${failures} failed` : ''}`}</title>
      <rect class="column" x={index} width="1" height={HEIGHT} />
      {runs + failures > 0 && <rect class="runs" x={x} y={top} width={width} height={height} />}
      {failures > 0 && <rect class="failures" x={x} y={top} width={width} height={failed} />}
    </a>
  )
}

export const isoOf = (ms: number): string => new Date(ms).toISOString()

export const periodOf = ({ fromMs, toMs }: RunBar) => ({ from: isoOf(fromMs), to: isoOf(toMs) })

/** The starts of five bars, from the first to the last, and the end. */
const marksOf = (bars: readonly RunBar[]): string[] => {
  const places = [0, 0.25, 0.5, 0.75].map(share => bars[Math.floor(share * bars.length)]?.fromMs)
  const times = [...places, bars.at(-1)?.toMs].filter(ms => ms !== undefined)
  return [...new Set(times.map((ms, index) => `${timeText(isoOf(ms))}${index === times.length - 1 ? ' UTC' : ''}`))]
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Nov 25, 15:00`; a midnight is only its day. */
export const timeText = (at: string): string => {
  const day = `${MONTHS[Number(at.slice(5, 7)) - 1]} ${Number(at.slice(8, 10))}`
  const time = at.slice(11, 16)
  return time === '00:00' ? day : `${day}, ${time}`
}
