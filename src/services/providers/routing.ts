import { type Binding, providerNames } from '../../../schemas/binding.ts'
import { SANDBOX } from '../../../schemas/primitives.ts'
import type { BindingName, ProviderWaitEnded } from '../../../schemas/provider-events.ts'
import { familyIn } from '../../domain/catalog/family.ts'
import { type Refusal, refuse } from '../../domain/refusal.ts'
import {
  type ChoiceCommand,
  type DisabledProvider,
  isBindingDisabled,
  nameOf,
  ordered,
} from '../../domain/routing/choices.ts'
import type { Clock } from '../../ports/clock.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import type { ProviderChoices } from './provider-choices.ts'
import { type ReportedProvider, readReports } from './provider-reports.ts'

interface Dependencies {
  views: Pick<ViewStore, 'reports'>
  clock: Clock
  choices: ProviderChoices
  /** Every binding that ships. */
  bindings: readonly Binding[]
}

/** Whether a choice changed something. A repeated one does not. */
export interface Chosen {
  isChange: boolean
}

/** A binding of an endpoint, and whether an operator has turned it off, by itself or with its provider. */
export interface ChosenBinding {
  binding: Binding
  isDisabled: boolean
  isProviderDisabled: boolean
}

/** What operators choose among the providers and bindings that exist. */
export class Routing {
  readonly #choices: ProviderChoices
  readonly #bindings: readonly Binding[]
  readonly #views: Dependencies['views']
  readonly #clock: Clock

  readonly permissions = {
    disabledProviders: 'operate',
    reported: 'operate',
    bindings: 'operate',
    setProvider: 'operate',
    setBinding: 'operate',
    orderBindings: 'operate',
    endWait: 'operate',
  } as const

  constructor({ choices, bindings, views, clock }: Dependencies) {
    this.#choices = choices
    this.#views = views
    this.#clock = clock
    this.#bindings = bindings
  }

  /** The providers that are turned off, by name. */
  async disabledProviders(_caller: Caller): Promise<Answer<ReadonlyMap<string, DisabledProvider>>> {
    const { disabledProviders } = await this.#choices.load()
    return answer(new Map(disabledProviders))
  }

  /** How the providers are in the processes that submit jobs, by name, as of a moment ago. */
  async reported(_caller: Caller): Promise<Answer<ReadonlyMap<string, ReportedProvider>>> {
    return answer(await readReports(this.#views, this.#clock.nowMs()))
  }

  /** All bindings, grouped by endpoint, in the order in which the service tries them. */
  async bindings(_caller: Caller): Promise<Answer<ChosenBinding[]>> {
    const choices = await this.#choices.load()
    const found = this.#endpoints().flatMap(endpoint => ordered(choices, endpoint, this.#bindingsOf(endpoint)))
    return answer(
      found.map(binding => ({
        binding,
        isDisabled: isBindingDisabled(choices, binding.endpoint, binding),
        isProviderDisabled: choices.disabledProviders.has(binding.provider),
      })),
    )
  }

  /** Enabling a provider also ends its waits. */
  async setProvider(caller: Caller, provider: string, enabled: boolean, reason?: string): Promise<Answer<Chosen>> {
    if (provider === SANDBOX) return refuse('sandbox_not_optional')
    if (!(providerNames as readonly string[]).includes(provider))
      return refuse('provider_unknown', { provider, known: providerNames })
    const chosen = await this.#choose(caller, { type: 'SetProvider', provider, enabled, reason })
    return enabled ? this.#withEndedWait(caller, chosen, { provider }) : chosen
  }

  /** Ends, in every process, the wait of an account or model that works again. No change if no process reports one. */
  async endWait(caller: Caller, wait: ProviderWaitEnded): Promise<Answer<Chosen>> {
    if (!(await this.#waits(wait))) return answer({ isChange: false })
    return this.#choose(caller, { type: 'EndWait', ...wait })
  }

  /** `name` is as `nameOf` writes it. */
  async setBinding(caller: Caller, endpoint: string, name: string, enabled: boolean): Promise<Answer<Chosen>> {
    const found = this.#find(endpoint, [name])
    if ('refuse' in found) return found
    const [binding] = found.value as [BindingName]
    const chosen = await this.#choose(caller, { type: 'SetBinding', endpoint, binding, enabled })
    const { provider, model } = binding
    return enabled ? this.#withEndedWait(caller, chosen, { provider, model }) : chosen
  }

  /** Puts these bindings of an endpoint first. An empty list restores the shipped order. */
  async orderBindings(caller: Caller, endpoint: string, names: readonly string[]): Promise<Answer<Chosen>> {
    const found = this.#find(endpoint, [...new Set(names)])
    if ('refuse' in found) return found
    return this.#choose(caller, { type: 'OrderBindings', endpoint, bindings: found.value })
  }

  async #choose(caller: Caller, command: ChoiceCommand): Promise<Answer<Chosen>> {
    const outcome = await this.#choices.execute(caller, command)
    return 'refuse' in outcome ? outcome : answer(outcome)
  }

  async #withEndedWait(caller: Caller, chosen: Answer<Chosen>, wait: ProviderWaitEnded): Promise<Answer<Chosen>> {
    if ('refuse' in chosen) return chosen
    const ended = await this.endWait(caller, wait)
    return 'refuse' in ended ? ended : answer({ isChange: chosen.value.isChange || ended.value.isChange })
  }

  /** Whether a process reports such a wait, or may, since the reports cannot be read. */
  async #waits({ provider, account, model }: ProviderWaitEnded): Promise<boolean> {
    try {
      const { openBreakers = [] } = (await readReports(this.#views, this.#clock.nowMs())).get(provider) ?? {}
      return openBreakers.some(open => isOf(account, open.account) && isOf(model, open.model))
    } catch (error) {
      if (error instanceof Unavailable) return true
      throw error
    }
  }

  #find(endpoint: string, names: readonly string[]): { value: BindingName[] } | { refuse: Refusal } {
    const all = this.#bindingsOf(endpoint)
    if (all.length === 0) return refuse('endpoint_not_bound', { endpoint, known: this.#endpoints(endpoint) })
    const found: BindingName[] = []
    for (const name of names) {
      const binding = all.find(each => nameOf(each) === name)
      if (!binding) return refuse('binding_unknown', { endpoint, binding: name, known: all.map(nameOf) })
      found.push(binding)
    }
    return answer(found)
  }

  /** All endpoints with bindings, or the endpoints of a family. */
  #endpoints(family?: string): string[] {
    const all = [...new Set(this.#bindings.map(({ endpoint }) => endpoint))]
    return family === undefined ? all : all.filter(endpoint => familyIn(endpoint) === family)
  }

  #bindingsOf(endpoint: string): Binding[] {
    return this.#bindings.filter(each => each.endpoint === endpoint)
  }
}

/** Whether a name matches. If none is named, all do. */
const isOf = (named: string | undefined, name: string | undefined): boolean => named === undefined || named === name
