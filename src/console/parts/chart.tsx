import type { Children } from '#jsx/jsx-runtime'

/** Charts are drawn in a square of this side and stretched to their place. Lines keep their thickness. */
const SIDE = 1000

interface StepPoint {
  /** Between 0 at the left and 1 at the right. */
  at: number
  /** Holds from here to the next point. */
  value: number
}

interface StepChartProps {
  /** Says in a sentence what the chart shows. */
  label: string
  points: readonly StepPoint[]
  /** Places on the line that stand out. */
  marks: readonly (StepPoint & { text: string })[]
  /** The names at the left, middle and right of the bottom. */
  ends: readonly string[]
  /** The place of the left edge. If it is the last point, its value fills the chart. */
  start?: number
  show(value: number): string
  /** Comes below, between the same ends. */
  children?: Children
}

/** A value over time that changes in steps. A table beside it has the same numbers. */
export const StepChart = ({ label, points, marks, ends, start = 0, show, children }: StepChartProps) => {
  const step = roundUp(Math.max(1, ...points.map(({ value }) => value)) / TICKS)
  const top = step * TICKS
  const x = (at: number) => (start === 1 ? 0 : Math.round(((at - start) / (1 - start)) * SIDE * 10) / 10)
  const y = (value: number) => Math.round((1 - value / top) * SIDE * 10) / 10
  const line = points.map(
    ({ at, value }, index) => `${index === 0 ? 'M' : 'H'}${x(at)}${index === 0 ? ' ' : 'V'}${y(value)}`,
  )
  const path = `${line.join('')}H${SIDE}`
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => index * step)
  return (
    <div class="chart">
      <div class="ticks" aria-hidden="true">
        {ticks.toReversed().map(value => (
          <span key={value}>{show(value)}</span>
        ))}
      </div>
      <svg viewBox={`0 0 ${SIDE} ${SIDE}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <defs>
          <linearGradient id="under" x1="0" y1="0" x2="0" y2="1">
            <stop offset="0" stop-color="currentColor" stop-opacity="0.18" />
            <stop offset="1" stop-color="currentColor" stop-opacity="0" />
          </linearGradient>
        </defs>
        {ticks.map(value => (
          <path key={value} class="grid" d={`M0 ${y(value)}H${SIDE}`} />
        ))}
        <path d={`${path}V${SIDE}H${x(points[0]?.at ?? 0)}Z`} fill="url(#under)" />
        <path class="line" d={path} />
        {marks.map(({ at, value, text }) => (
          <path key={text} class="mark" d={`M${x(at)} ${y(value)}h0.01`}>
            <title>{text}</title>
          </path>
        ))}
      </svg>
      <Ends names={ends} />
      <div class="below">{children}</div>
    </div>
  )
}

/** The lines above the bottom one. */
const TICKS = 3

/** The next round number. */
const roundUp = (value: number): number => {
  const unit = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 2.5, 3, 4, 5, 6, 8, 10].find(factor => factor * unit >= value) ?? 10) * unit
}

const Ends = ({ names }: { names: readonly string[] }) => (
  <div class="ends" aria-hidden="true">
    {names.map(name => (
      <span key={name}>{name}</span>
    ))}
  </div>
)

interface ColumnsProps {
  label: string
  values: readonly { value: number; text: string }[]
  /** The words of a value. The largest has its own above it. */
  show?(value: number): string
}

/** Small columns, one for each place, such as a day. Negative values are not drawn. */
export const Columns = ({ label, values, show }: ColumnsProps) => {
  const most = Math.max(1, ...values.map(({ value }) => value))
  const width = SIDE / values.length
  const largest = values.findIndex(({ value }) => value === most)
  return (
    <div class="columns">
      {show && largest >= 0 && <Above text={show(most)} at={(largest + 0.5) / values.length} />}
      <svg viewBox={`0 0 ${SIDE} ${SIDE}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {values.map(({ value, text }, index) => {
          const height = Math.max(0, Math.round((value / most) * SIDE))
          return (
            <g key={text}>
              <rect class="hit" x={index * width} y={0} width={width} height={SIDE} />
              <rect x={index * width + width * 0.12} y={SIDE - height} width={width * 0.76} height={height} />
              <title>{text}</title>
            </g>
          )
        })}
      </svg>
    </div>
  )
}

/** Words above a place of a chart, kept inside its edges. Those of the chart itself would be stretched. */
const Above = ({ text, at }: { text: string; at: number }) => (
  <svg class="above" aria-hidden="true">
    <text x={`${(at * 100).toFixed(1)}%`} y="12" text-anchor={at < 0.15 ? 'start' : at > 0.85 ? 'end' : 'middle'}>
      {text}
    </text>
  </svg>
)

/** A bar in a row of a table, as a share of the largest. */
export const Bar = ({ share, isRest = false }: { share: number; isRest?: boolean }) => (
  <svg class={isRest ? 'bar rest' : 'bar'} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect width={Math.max(0, Math.min(100, Math.round(share * 1000) / 10))} height={8} />
  </svg>
)
