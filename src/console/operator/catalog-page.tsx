import type { ModelFamily } from '../../../schemas/api/model.ts'
import type { EndpointPrice } from '../../services/operator/prices.ts'
import { credits, decimal } from '../parts/text.ts'
import { Shell } from '../shell.tsx'
import { TableCard } from './account-page.tsx'
import { OPERATOR } from './account-words.ts'
import { marginOf } from './family-words.ts'

export const CATALOG = `${OPERATOR}/catalog`

/** A family in the list. */
export interface ListedFamily {
  family: ModelFamily
  prices: readonly EndpointPrice[]
  /** Whether an operator has changed it. */
  isByHand: boolean
}

/** All published families, those for testers too. */
export const CatalogPage = ({ families }: { families: readonly ListedFamily[] }) => (
  <Shell title="Catalog">
    <div class="page stack">
      <TableCard
        id="families"
        title="Families"
        empty="No families are published yet. The service publishes its catalog when it starts."
        head={[
          { name: 'Family' },
          { name: 'Status', isWide: true },
          { name: 'Makes', isWide: true },
          { name: 'Usual run', isNumber: true },
          { name: 'Provider cost', isNumber: true },
          { name: 'Margin', isNumber: true },
          { name: 'Retires', isNumber: true, isWide: true },
        ]}
        rows={families.map(({ family, prices, isByHand }) => (
          <tr key={family.id}>
            <td>
              <a href={`${CATALOG}/${family.id}`} data-item>
                {family.name}
              </a>{' '}
              <code class="small faint hide-small">{family.id}</code>{' '}
              {isByHand && <span class="badge plain">changed by hand</span>}
            </td>
            <td class="hide-small">
              <span class={`badge ${family.status === 'public' ? 'plain' : 'warn plain'}`}>{family.status}</span>
              {!family.endpoints.some(({ available }) => available) && <span class="badge warn">not available</span>}
            </td>
            <td class="hide-small muted">{family.output_type}</td>
            <td class="num">
              {rangeOf(prices.map(({ usualMicros }) => usualMicros))}
              <span class="when-folded"> credits</span>
            </td>
            <td class={isKnown(prices) ? 'num muted' : 'num muted hide-small'}>
              <span class="when-folded">cost </span>
              {rangeOf(prices.flatMap(({ cost }) => cost?.micros ?? []))}
            </td>
            <td class={isKnown(prices) ? 'num' : 'num hide-small'}>
              <Margin prices={prices} />
            </td>
            <td class="num hide-small muted">{retiresAt(family)?.slice(0, 10) ?? '–'}</td>
          </tr>
        ))}
      />
      <p class="small faint">
        Amounts are credits. A usual run is the first example of an endpoint. Its cost is the highest list price of the
        providers that may get it.
      </p>
    </div>
  </Shell>
)

/** The lowest margin, and whether any run sells below cost. */
export const Margin = ({ prices }: { prices: readonly EndpointPrice[] }) => {
  const lowest = prices.flatMap(price => marginOf(price) ?? []).sort((one, other) => one - other)[0]
  return (
    <>
      {prices.some(({ isBelowCost }) => isBelowCost) && (
        <>
          <span class="badge bad">below cost</span>{' '}
        </>
      )}
      <span class={lowest === undefined ? 'faint' : toneOf(lowest)}>
        <span class="when-folded">margin </span>
        {lowest === undefined ? '–' : `${decimal(lowest)} %`}
      </span>
    </>
  )
}

/** Phones show nothing of what is not known. */
const isKnown = (prices: readonly EndpointPrice[]): boolean => prices.some(({ cost }) => cost)

/** Nothing is earned at 0 %. */
const toneOf = (percent: number): string => (percent < 0 ? 'red' : percent === 0 ? 'amber' : '')

const rangeOf = (micros: readonly number[]): string => {
  const [least, most] = [Math.min(...micros), Math.max(...micros)]
  if (micros.length === 0) return '–'
  return least === most ? credits(least) : `${credits(least)} – ${credits(most)}`
}

const retiresAt = ({ endpoints }: ModelFamily): string | undefined =>
  endpoints.flatMap(({ retires_at: at }) => at ?? []).sort()[0]
