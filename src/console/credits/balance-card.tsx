import type { SpokenLine } from '../../transports/statement/lines.ts'
import { Columns, StepChart } from '../parts/chart.tsx'
import { alignerOf } from '../parts/numbers.tsx'
import { credits } from '../parts/text.ts'
import { addressOf, type CreditsRange, type CreditsView, dayName, RANGES, swaps } from './range.ts'

/** A UTC day of the range. */
export interface BalanceDay {
  day: string
  /** Credits that were bought, granted or taken back. */
  addedMicros: number
  /** Charges less what was refunded and released. */
  spentMicros: number
  /** At the end of the day. */
  balanceMicros: number
}

export interface BalanceCardProps {
  view: CreditsView
  days: readonly BalanceDay[]
  /** The balance over the range. The last point is the present. */
  points: readonly { day: string; time: string; at: number; balanceMicros: number }[]
  /** The newest lines of what was granted. */
  grants: readonly SpokenLine[]
}

/** The balance over time with what was added, and the spending of each day. */
export const BalanceCard = ({ view, days, points, grants }: BalanceCardProps) => {
  const { text } = RANGES[view.range]
  const end = credits(days.at(-1)?.balanceMicros ?? 0)
  const added = days.filter(({ addedMicros }) => addedMicros !== 0)
  const since = points.findIndex(({ balanceMicros }) => balanceMicros !== 0)
  const start = points[Math.max(0, since)]?.at ?? 0
  return (
    <section class="card" aria-labelledby="balance-title">
      <div class="head">
        <h2 id="balance-title">Balance</h2>
        <Ranges view={view} />
      </div>
      <div class="pad stack tight">
        <StepChart
          label={`The balance over ${text}, now ${end} credits. The table below has the numbers.`}
          points={points.slice(Math.max(0, since)).map(({ at, balanceMicros }) => ({ at, value: balanceMicros }))}
          marks={added.flatMap(day => marksOf(day, { points, grants }))}
          ends={endsOf(points.slice(Math.max(0, since)))}
          start={start}
          show={credits}
        >
          {days.length > 1 && (
            <>
              <h3 class="small faint">Spending by day</h3>
              <Columns
                label={`The credits spent on each of ${text}`}
                values={days.map(day => ({ value: day.spentMicros, text: sentenceOf(day) }))}
                show={credits}
              />
            </>
          )}
        </StepChart>
        <Numbers days={days} />
      </div>
    </section>
  )
}

const Ranges = ({ view }: { view: CreditsView }) => (
  <nav class="segments" aria-label="Range">
    {(Object.keys(RANGES) as CreditsRange[]).map(range => (
      <a
        key={range}
        id={`range-${range}`}
        {...swaps('of-range', addressOf({ ...view, range, cursor: undefined }))}
        {...(range === view.range && { 'aria-current': 'true' as const })}
      >
        {RANGES[range].name}
      </a>
    ))}
  </nav>
)

/** The first, middle and last day, or their times if they are one day. Each name comes once. */
export const endsOf = (points: BalanceCardProps['points']): string[] => {
  const ends = [points[0], points[Math.floor(points.length / 2)], points.at(-1)].flatMap(point => point ?? [])
  const days = new Set(ends.map(({ day }) => dayName(day)))
  return [...(days.size > 1 ? days : new Set(ends.map(({ time }) => `${time.slice(11, 16)} UTC`)))]
}

/** At each grant of the day, or on the largest step if not all of them are known. */
const marksOf = ({ day, addedMicros }: BalanceDay, { points, grants }: Pick<BalanceCardProps, 'points' | 'grants'>) => {
  const known = grants.filter(({ at }) => at.startsWith(day))
  if (known.reduce((sum, { changeMicros }) => sum + changeMicros, 0) === addedMicros)
    return points.flatMap(({ time, at, balanceMicros: value }, index) => {
      const before = points[index - 1]?.time ?? ''
      const added = known.filter(grant => grant.at >= before && grant.at < time)
      const names = added.map(({ what, changeMicros }) => `${what} ${credits(changeMicros)}`)
      return names.length > 0 ? [{ at, value, text: `${dayName(day)}: ${names.join(', ')}` }] : []
    })
  const steps = points.map((point, index) => ({
    ...point,
    step: (point.balanceMicros - (points[index - 1]?.balanceMicros ?? 0)) * Math.sign(addedMicros),
  }))
  const [largest] = steps.filter(step => step.day === day).sort((one, other) => other.step - one.step)
  if (!largest) return []
  const { at, balanceMicros } = largest
  return [{ at, value: balanceMicros, text: `${dayName(day)}: ${signed(addedMicros)} credits` }]
}

const signed = (micros: number) => (micros > 0 ? `+${credits(micros)}` : credits(micros))

const sentenceOf = ({ day, spentMicros, addedMicros, balanceMicros }: BalanceDay) =>
  [
    `${dayName(day)}: ${credits(spentMicros)} spent`,
    ...(addedMicros === 0 ? [] : [`${signed(addedMicros)} added`]),
    `${credits(balanceMicros)} left`,
  ].join(', ')

/** Days on which nothing happened have no row. */
const Numbers = ({ days }: { days: readonly BalanceDay[] }) => {
  const shown = days.filter(({ addedMicros, spentMicros }) => addedMicros !== 0 || spentMicros !== 0).reverse()
  const added = alignerOf(shown.map(({ addedMicros }) => addedMicros))
  const spent = alignerOf(shown.map(({ spentMicros }) => spentMicros))
  const balances = alignerOf(shown.map(({ balanceMicros }) => balanceMicros))
  return (
    <details>
      <summary>Show the numbers</summary>
      {shown.length === 0 ? (
        <p class="muted">The balance did not change.</p>
      ) : (
        <section class="scroll tall" tabindex={0} aria-label="Balance by day">
          <table id="numbers">
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                <th scope="col" class="num">
                  Added
                </th>
                <th scope="col" class="num">
                  Spent
                </th>
                <th scope="col" class="num">
                  Balance, in credits
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ day, addedMicros, spentMicros, balanceMicros }) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  <td class="num" {...added(addedMicros)}>
                    {credits(addedMicros)}
                  </td>
                  <td class="num" {...spent(spentMicros)}>
                    {credits(spentMicros)}
                  </td>
                  <td class="num" {...balances(balanceMicros)}>
                    {credits(balanceMicros)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  )
}
