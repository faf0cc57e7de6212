import { Map as ImmutableMap, Set as ImmutableSet, List } from 'immutable'
import type { BindingName, ProviderEvent, ProviderWaitEnded } from '../../../schemas/provider-events.ts'
import { accept, type Decider, type PastEvent, unreachable } from '../decider.ts'
import type { Decided, Refusal } from '../refusal.ts'

/** The named providers and bindings exist. */
export type ChoiceCommand =
  | { type: 'SetProvider'; provider: string; enabled: boolean; reason?: string | undefined }
  | { type: 'SetBinding'; endpoint: string; binding: BindingName; enabled: boolean }
  | { type: 'OrderBindings'; endpoint: string; bindings: readonly BindingName[] }
  | ({ type: 'EndWait' } & ProviderWaitEnded)

/** A provider that an operator has turned off. */
export interface DisabledProvider {
  reason?: string | undefined
  at: string
}

/** What operators have chosen. All else is as it ships. */
export interface Choices {
  disabledProviders: ImmutableMap<string, DisabledProvider>
  /** By endpoint. */
  disabledBindings: ImmutableMap<string, ImmutableSet<string>>
  /** The bindings of an endpoint that are tried first. */
  orders: ImmutableMap<string, List<string>>
  /** The last event that ended a wait, by the provider, account and model that it names. */
  endedWaits: ImmutableMap<string, EndedWait>
}

/** The revision distinguishes it from an earlier one. */
export type EndedWait = ProviderWaitEnded & { revision: number }

export const NO_CHOICES: Choices = {
  disabledProviders: ImmutableMap(),
  disabledBindings: ImmutableMap(),
  orders: ImmutableMap(),
  endedWaits: ImmutableMap(),
}

/** The bindings of an endpoint that may get jobs, in the order in which they are tried. */
export const chosenOf = <Some extends BindingName>(
  choices: Choices,
  endpoint: string,
  bindings: readonly Some[],
): Some[] => ordered(choices, endpoint, bindings).filter(binding => !isDisabled(choices, endpoint, binding))

/** All bindings of an endpoint, in the order in which they are tried if they are enabled. */
export const ordered = <Some extends BindingName>(
  { orders }: Choices,
  endpoint: string,
  bindings: readonly Some[],
): Some[] => {
  const order = orders.get(endpoint)
  if (!order) return [...bindings]
  const placeOf = (binding: Some) => {
    const place = order.indexOf(nameOf(binding))
    return place < 0 ? order.size : place
  }
  return bindings.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** A binding as operators write it, such as `openai/gpt-6.1-terra`. */
export const nameOf = ({ provider, model }: BindingName): string => `${provider}/${model}`

export const isBindingDisabled = ({ disabledBindings }: Choices, endpoint: string, binding: BindingName): boolean =>
  disabledBindings.get(endpoint)?.has(nameOf(binding)) ?? false

const isDisabled = (choices: Choices, endpoint: string, binding: BindingName): boolean =>
  choices.disabledProviders.has(binding.provider) || isBindingDisabled(choices, endpoint, binding)

/** A choice that changes nothing is no event. */
const decide = (command: ChoiceCommand, choices: Choices): Decided<ProviderEvent> => {
  switch (command.type) {
    case 'SetProvider': {
      const { provider, enabled, reason } = command
      if (enabled !== choices.disabledProviders.has(provider)) return accept([])
      const data = { provider, ...(reason !== undefined && { reason }) }
      return accept([{ type: enabled ? 'ProviderEnabled' : 'ProviderDisabled', data }])
    }
    case 'SetBinding': {
      const { endpoint, binding, enabled } = command
      if (enabled !== isBindingDisabled(choices, endpoint, binding)) return accept([])
      return accept([{ type: enabled ? 'BindingEnabled' : 'BindingDisabled', data: { endpoint, ...plain(binding) } }])
    }
    case 'OrderBindings': {
      const { endpoint, bindings } = command
      if (listOf(bindings).equals(choices.orders.get(endpoint, List()))) return accept([])
      return accept([{ type: 'BindingsOrdered', data: { endpoint, bindings: bindings.map(plain) } }])
    }
    case 'EndWait': {
      const { type: _, ...data } = command
      return accept([{ type: 'ProviderWaitEnded', data }])
    }
    default:
      return unreachable(command)
  }
}

const evolve = (choices: Choices, { type, data, revision, metadata: { at } }: PastEvent<ProviderEvent>): Choices => {
  const { disabledProviders, disabledBindings, orders } = choices
  switch (type) {
    case 'ProviderDisabled':
      return { ...choices, disabledProviders: disabledProviders.set(data.provider, { reason: data.reason, at }) }
    case 'ProviderEnabled':
      return { ...choices, disabledProviders: disabledProviders.delete(data.provider) }
    case 'BindingDisabled':
      return {
        ...choices,
        disabledBindings: disabledBindings.update(data.endpoint, NONE, all => all.add(nameOf(data))),
      }
    case 'BindingEnabled':
      return {
        ...choices,
        disabledBindings: disabledBindings.update(data.endpoint, NONE, all => all.delete(nameOf(data))),
      }
    case 'BindingsOrdered':
      return { ...choices, orders: orders.set(data.endpoint, listOf(data.bindings)) }
    case 'ProviderWaitEnded': {
      const what = [data.provider, data.account, data.model].join(' ')
      return { ...choices, endedWaits: choices.endedWaits.set(what, { ...data, revision }) }
    }
    default:
      return unreachable(type)
  }
}

const NONE = ImmutableSet<string>()

const listOf = (bindings: readonly BindingName[]): List<string> => List(bindings.map(nameOf))

const plain = ({ provider, model }: BindingName): BindingName => ({ provider, model })

/** Which providers and bindings operators let have jobs, and in which order. */
export const choices: Decider<ChoiceCommand, Choices, ProviderEvent, Refusal> = { initial: NO_CHOICES, decide, evolve }
