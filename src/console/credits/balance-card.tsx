import { Columns, StepChart } from '../parts/chart.tsx'
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
  points: readonly { day: string; at: number; balanceMicros: number }[]
}

/** The balance over time with what was added, and the spending of each day. */
export const BalanceCard = ({ view, days, points }: BalanceCardProps) => {
  const [first, last] = [days[0], days.at(-1)]
  const { text } = RANGES[view.range]
  const end = credits(last?.balanceMicros ?? 0)
  return (
    <section class="card" aria-labelledby="balance-title">
      <div class="head">
        <h2 id="balance-title">Balance</h2>
        <Ranges view={view} />
      </div>
      <div class="pad stack tight">
        <StepChart
          label={`The balance over ${text}, now ${end} credits. The table below has the numbers.`}
          points={points.map(({ at, balanceMicros }) => ({ at, value: balanceMicros }))}
          marks={days.filter(({ addedMicros }) => addedMicros !== 0).flatMap(day => markOf(day, points))}
          ends={[first, days[Math.floor(days.length / 2)], last].map(each => dayName(each?.day ?? ''))}
          show={credits}
        >
          <h3 class="small faint">Spending by day</h3>
          <Columns
            label={`The credits spent on each of ${text}`}
            values={days.map(day => ({ value: day.spentMicros, text: sentenceOf(day) }))}
          />
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

/** On the largest step of the day. */
const markOf = ({ day, addedMicros }: BalanceDay, points: BalanceCardProps['points']) => {
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
                  <td class="num">{credits(addedMicros)}</td>
                  <td class="num">{credits(spentMicros)}</td>
                  <td class="num">{credits(balanceMicros)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  )
}
