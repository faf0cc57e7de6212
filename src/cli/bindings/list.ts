import { Command } from 'commander'
import { shipped } from '../../catalog/shipped.ts'
import { namesOf } from '../../domain/catalog/family.ts'
import { nameOf } from '../../domain/routing/choices.ts'
import type { ChosenBinding } from '../../services/providers/routing.ts'
import { operatorOf } from '../operator.ts'
import { OperatorError } from '../operator-error.ts'
import { printMany } from '../print.ts'
import { isRetired } from '../providers/retiring.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'

export const listBindings = (): Command =>
  new Command('list')
    .argument('[model]', 'only those of a model or endpoint')
    .description('lists the bindings of each endpoint, in the order in which they are tried')
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
      printMany(rows, options, `No provider is bound to ${model}.`)
    })

/** The endpoints that a name of the catalog stands for: all of them without one. */
const endpointsOf = (model: string | undefined): Set<string> => {
  const families = model === undefined ? shipped : shipped.filter(family => namesOf(family).includes(model))
  if (families.length === 0)
    throw new OperatorError(`There is no model ${model}; there are ${shipped.map(({ id }) => id).join(', ')}.`)
  const endpoints = families.flatMap(family => family.endpoints.map(({ id }) => id))
  return new Set(model !== undefined && endpoints.includes(model) ? [model] : endpoints)
}

const show = (chosen: ChosenBinding, isConfigured: boolean, nowMs: number) => {
  const { binding } = chosen
  return {
    endpoint: binding.endpoint,
    binding: nameOf(binding),
    state: isRetired(binding, nowMs) ? 'retired' : stateOf(chosen, isConfigured),
    retires_at: binding.retiresAt ?? null,
    replaced_by: binding.replacedBy ?? null,
  }
}

const stateOf = ({ isDisabled, isProviderDisabled }: ChosenBinding, isConfigured: boolean): string => {
  if (isDisabled) return 'disabled'
  if (isProviderDisabled) return 'provider disabled'
  return isConfigured ? 'on' : 'no key'
}
