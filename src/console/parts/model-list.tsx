import type { ModelFamily } from '../../../schemas/api/model.ts'
import { OUTPUTS } from '../playground/words.ts'
import { decimal } from './text.ts'

/** Families in the list before it is opened. */
const SHOWN = 9

/** Families with their IDs and prices. */
export const ModelList = ({ families }: { families: readonly ModelFamily[] }) => (
  <div class="card models">
    <ul>{families.slice(0, SHOWN).map(itemOf)}</ul>
    {families.length > SHOWN && (
      <details>
        <summary class="pad">All {families.length} models</summary>
        <ul>{families.slice(SHOWN).map(itemOf)}</ul>
      </details>
    )}
  </div>
)

const itemOf = (family: ModelFamily) => (
  <li key={family.id}>
    <a class="link" href={`/console/playground?model=${family.id}`}>
      {family.name}
    </a>
    <code class="small faint">{family.id}</code>
    <span class="small muted">
      {OUTPUTS[family.output_type]} · <FamilyPrice family={family} />
    </span>
  </li>
)

/** A price to compare with those of other families. Its title is the range of all choices. */
export const FamilyPrice = ({ family }: { family: ModelFamily }) => (
  <span title={rangeOf(family)}>{priceOf(family)}</span>
)

const rangeOf = ({ credits_range: { min, max } }: ModelFamily): string =>
  `${min === max ? decimal(min) : `${decimal(min)} – ${decimal(max)}`} credits a run`

const priceOf = ({ endpoints, credits_range: { min, max } }: ModelFamily): string => {
  const tokens = endpoints[0]?.pricing.tokens_per_million
  if (tokens) return `${decimal(tokens.input)} credits in, ${decimal(tokens.output)} out per million tokens`
  return `${min === max ? '' : 'from '}${rounded.format(min)} ${min === 1 ? 'credit' : 'credits'}`
}

const rounded = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
