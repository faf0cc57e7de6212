import { Bar } from '../parts/chart.tsx'
import { alignerOf } from '../parts/numbers.tsx'
import { credits, plural } from '../parts/text.ts'
import { addressOf, type CreditsView, RANGES, SPENDING_BY, type SpendingBy, swaps } from './range.ts'

/** The part of the spending that belongs to a model, key or label. */
export interface SpendingRow {
  name: string
  /** Whether the name says that there is none, such as "No label". */
  isNone: boolean
  runs: number
  spentMicros: number
}

export interface SpendingCardProps {
  view: CreditsView
  /** Missing if the range has too many groups to add up. */
  rows?: readonly SpendingRow[]
  others: { count: number; runs: number; spentMicros: number }
  total: { runs: number; spentMicros: number }
}

/** Where the credits went, the largest part first. */
export const SpendingCard = ({ view, rows, others, total }: SpendingCardProps) => (
  <section class="card" id="spending" aria-labelledby="spending-title">
    <div class="head">
      <h2 id="spending-title">Spending</h2>
      <nav class="segments" aria-label="Spending by">
        {(Object.keys(SPENDING_BY) as SpendingBy[]).map(by => (
          <a
            key={by}
            id={`by-${by}`}
            {...swaps('spending', addressOf({ ...view, by }))}
            {...(by === view.by && { 'aria-current': 'true' as const })}
          >
            {SPENDING_BY[by]}
          </a>
        ))}
      </nav>
    </div>
    {rows === undefined ? (
      <p class="pad muted">
        These {RANGES[view.range].text} have too many {view.by}s to add up. Choose a shorter range.
      </p>
    ) : rows.length === 0 ? (
      <p class="pad muted">Nothing was spent in these {RANGES[view.range].text}.</p>
    ) : (
      <Rows view={view} rows={rows} others={others} total={total} />
    )}
  </section>
)

const Rows = ({ view, rows, others, total }: SpendingCardProps & { rows: readonly SpendingRow[] }) => {
  const align = alignerOf([...rows, others, total].map(({ spentMicros }) => spentMicros))
  const most = Math.max(1, others.spentMicros, ...rows.map(({ spentMicros }) => spentMicros))
  return (
    <table class="spending">
      <thead>
        <tr>
          <th scope="col">{SPENDING_BY[view.by]}</th>
          <th scope="col">
            <span class="visually-hidden">Share</span>
          </th>
          <th scope="col" class="num">
            Credits
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, isNone, runs, spentMicros }) => (
          <tr key={name} data-item tabindex={-1}>
            <th scope="row" title={plural(runs, 'run')}>
              <bdi class={isNone ? 'faint' : ''}>{name}</bdi>
            </th>
            <td>
              <Bar share={spentMicros / most} />
            </td>
            <td class="num" {...align(spentMicros)}>
              {credits(spentMicros)}
            </td>
          </tr>
        ))}
        {others.count > 0 && (
          <tr>
            <th scope="row" title={plural(others.runs, 'run')}>
              Other ({others.count})
            </th>
            <td>
              <Bar share={others.spentMicros / most} isRest />
            </td>
            <td class="num" {...align(others.spentMicros)}>
              {credits(others.spentMicros)}
            </td>
          </tr>
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Sum of {plural(total.runs, 'run')}</th>
          <td />
          <td class="num" {...align(total.spentMicros)}>
            {credits(total.spentMicros)}
          </td>
        </tr>
      </tfoot>
    </table>
  )
}
