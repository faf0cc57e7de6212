import { Command } from 'commander'
import { shipped } from '../catalog/shipped.ts'
import { isReplacedBy, namesOf } from '../domain/catalog/family.ts'
import { refuse } from '../domain/refusal.ts'
import { nameOf } from '../domain/routing/choices.ts'
import type { ChosenBinding } from '../services/providers/routing.ts'
import { toColumns } from './columns.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printOne } from './print.ts'
import { isRetired } from './providers/retiring.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const bindingsCommand = (): Command =>
  new Command('bindings')
    .addCommand(listBindings())
    .addCommand(enableBinding())
    .addCommand(disableBinding())
    .addCommand(orderBindings())

const listBindings = (): Command =>
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

/** The endpoints of a family or endpoint; all endpoints without a name. */
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

/** Only the first binding of an endpoint shows the endpoint's name. */
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

const enableBinding = (): Command =>
  switchBinding('enable', 'send jobs to a binding again, and close the circuit breakers of its model', true)

const disableBinding = (): Command =>
  switchBinding('disable', 'stop sending jobs to a binding, in every process within a second', false)

const switchBinding = (name: string, description: string, enabled: boolean): Command =>
  new Command(name)
    .argument('<endpoint>', 'endpoint, such as nano-banana-2-t2i; "tollgate bindings list" shows all endpoints')
    .argument('<binding>', 'binding as PROVIDER/MODEL; "tollgate bindings list" shows all bindings')
    .description(description)
    .option('--json', 'print JSON')
    .action(async (endpoint, binding, options, command) => {
      const caller = operatorOf(command)
      await withCore(async ({ services }) => {
        const { isChange } = unwrap(await services.routing.setBinding(caller, endpoint, binding, enabled))
        printOne({ endpoint, binding, enabled, changed: isChange }, options)
      })
    })

export const orderBindings = (): Command =>
  new Command('order')
    .argument('<endpoint>', 'endpoint, such as nano-banana-2-t2i; "tollgate bindings list" shows all endpoints')
    .argument('[bindings...]', 'bindings to try first, as PROVIDER/MODEL')
    .description('try these bindings of an endpoint first, in this order, and all others afterwards')
    .option('--shipped', 'restore the default order')
    .option('--json', 'print JSON')
    .action(async (endpoint, names: string[], options, command) => {
      const caller = operatorOf(command)
      if ((names.length === 0) !== Boolean(options.shipped))
        throw new OperatorError('Name the bindings to try first as PROVIDER/MODEL, or give --shipped instead.')
      await withCore(async ({ services }) => {
        const { isChange } = unwrap(await services.routing.orderBindings(caller, endpoint, names))
        const all = unwrap(await services.routing.bindings(caller))
        const order = all.map(({ binding }) => binding).filter(each => each.endpoint === endpoint)
        const bindings = order.map(nameOf)
        printOne({ endpoint, bindings: options.json ? bindings : bindings.join('\n'), changed: isChange }, options)
      })
    })
