import { Command } from 'commander'
import { shipped } from '../../catalog/shipped.ts'
import { isReplacedBy, namesOf } from '../../domain/catalog/family.ts'
import { refuse } from '../../domain/refusal.ts'
import { nameOf } from '../../domain/routing/choices.ts'
import type { ChosenBinding } from '../../services/providers/routing.ts'
import { toColumns } from '../columns.ts'
import { operatorOf } from '../operator.ts'
import { isRetired } from '../providers/retiring.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'

export const listBindings = (): Command =>
  new Command('list')
    .argument('[model]', 'show only the bindings of this model or endpoint')
    .description('list the bindings of each endpoint, in the order in which they are tried')
    .option('--json', 'print JSON')
    .action(async (model: string | undefined, options, command) => {
      const caller = operatorOf(command)
      const wanted = endpointsOf(model)
      const { all, configured, nowMs } = await withCore(async ({ services, config, clock }) => ({
        all: unwrap(await services.routing.bindings(caller)),
        configured: new Set<string>(config.providers.map(({ provider }) => provider)),
        nowMs: clock.nowMs(),
      }))
      const rows = all
        .filter(({ binding }) => wanted.has(binding.endpoint))
        .map(chosen => show(chosen, configured.has(chosen.binding.provider), nowMs))
      if (options.json) console.log(JSON.stringify(rows))
      else console.log(rows.length > 0 ? toText(rows) : `No provider is bound to ${model}.`)
    })

/** The endpoints that a name of the catalog stands for: all of them without one. */
const endpointsOf = (model: string | undefined): Set<string> => {
  if (model === undefined) return new Set(shipped.flatMap(({ endpoints }) => endpoints.map(({ id }) => id)))
  const family = shipped.find(each => namesOf(each).includes(model))
  if (!family)
    return unwrap(refuse('model_not_found', { model, replacedBy: shipped.find(each => isReplacedBy(model, each))?.id }))
  const ids = family.endpoints.map(({ id }) => id)
  return new Set(ids.includes(model) ? [model] : ids)
}

type Shown = ReturnType<typeof show>

const show = (chosen: ChosenBinding, isConfigured: boolean, nowMs: number) => {
  const { endpoint, retiresAt, replacedBy, source, unpriced } = chosen.binding
  return {
    endpoint,
    binding: nameOf(chosen.binding),
    state: isRetired(chosen.binding, nowMs) ? 'retired' : stateOf(chosen, isConfigured),
    retires_at: retiresAt ?? null,
    replaced_by: replacedBy ?? null,
    source: source.at,
    looked_up_on: source.on,
    is_confirmed: !source.unconfirmed,
    has_price: unpriced === undefined,
    no_price_reason: unpriced ?? null,
  }
}

/** An endpoint is named at the first of its bindings. */
const toText = (rows: Shown[]): string =>
  toColumns(
    rows.map((row, index) => [
      row.endpoint === rows[index - 1]?.endpoint ? '' : row.endpoint,
      row.binding,
      [row.state, ...retirementOf(row)].join('\n'),
      `${row.looked_up_on}${row.is_confirmed ? '' : ', unconfirmed'}`,
    ]),
    { head: ['endpoint', 'binding', 'state', 'looked up'] },
  )

const retirementOf = ({ retires_at, replaced_by }: Shown): string[] => [
  ...(retires_at === null ? [] : [`retires ${retires_at}`]),
  ...(replaced_by === null ? [] : [`replaced by ${replaced_by}`]),
]

const stateOf = ({ isDisabled, isProviderDisabled }: ChosenBinding, isConfigured: boolean): string => {
  if (isDisabled) return 'disabled'
  if (isProviderDisabled) return 'provider disabled'
  return isConfigured ? 'on' : 'no key'
}
