import type { ModelFamily } from '../../../schemas/api/model.ts'
import { decimal } from '../parts/text.ts'
import { Shell } from '../shell.tsx'
import { TableCard } from './account-page.tsx'
import { OPERATOR } from './account-words.ts'

export const CATALOG = `${OPERATOR}/catalog`

/** A family in the list. */
export interface ListedFamily {
  family: ModelFamily
  /** The revision of the catalog that published it. */
  revision: number
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
          { name: 'Status' },
          { name: 'Makes' },
          { name: 'Credits', isNumber: true },
          { name: 'Revision', isNumber: true },
          { name: 'Retires', isNumber: true },
        ]}
        rows={families.map(({ family, revision, isByHand }) => (
          <tr key={family.id}>
            <td>
              <a href={`${CATALOG}/${family.id}`} data-item>
                {family.name}
              </a>{' '}
              <code class="small faint">{family.id}</code>
            </td>
            <td>
              <span class={`badge ${family.endpoints.some(({ available }) => available) ? 'good' : 'warn'}`}>
                {family.endpoints.some(({ available }) => available) ? family.status : 'not available'}
              </span>
              {isByHand && <span class="badge plain tester">changed by hand</span>}
            </td>
            <td class="muted">{family.output_type}</td>
            <td class="num">{rangeOf(family)}</td>
            <td class="num muted">{revision}</td>
            <td class="num muted">{retiresAt(family)?.slice(0, 10) ?? '–'}</td>
          </tr>
        ))}
      />
    </div>
  </Shell>
)

const rangeOf = ({ credits_range: { min, max } }: ModelFamily): string =>
  min === max ? decimal(min) : `${decimal(min)} – ${decimal(max)}`

const retiresAt = ({ endpoints }: ModelFamily): string | undefined =>
  endpoints.flatMap(({ retires_at: at }) => at ?? []).sort()[0]
