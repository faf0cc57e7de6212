import type { Upstream } from '../../../schemas/account-events.ts'
import type { Binding, PriceList } from '../../../schemas/binding.ts'
import { type Moded, SANDBOX } from '../../../schemas/primitives.ts'
import { isTestEndpoint } from '../../domain/catalog/family.ts'
import { type Choices, chosenOf } from '../../domain/routing/choices.ts'
import { type Unmet, upstreamParameters } from '../../domain/routing/upstream-parameters.ts'
import type { Clock } from '../../ports/clock.ts'
import type { UpstreamModel, UpstreamRequest } from '../../ports/provider.ts'
import { type CircuitBreakers, MAX_WAIT_MS } from './circuit-breakers.ts'
import type { ProviderAccount } from './provider-account.ts'

/** A binding of any provider, so that tests can bring their own. */
export type Bound = Omit<Binding, 'provider' | 'source'> & {
  provider: string
  source?: Pick<Binding['source'], 'on'>
}

/** A way to run an input: an account at a provider, and the request to it. */
export interface ProviderRoute {
  account: ProviderAccount
  upstream: UpstreamRequest
}

export interface RoutesDependencies {
  /** The bindings of an endpoint, in order of preference. */
  bindingsOf(endpoint: string): readonly Bound[]
  /** The accounts that are configured. */
  accounts: readonly ProviderAccount[]
  /** Runs the endpoints that have no binding to another provider. */
  sandbox: ProviderAccount | undefined
  /** Whether it also serves endpoints that no other provider serves, while some are configured. */
  fallsBack: boolean
  breakers: Pick<CircuitBreakers, 'openBreakerOf'>
  /** What operators have chosen. */
  choices: { readonly known: Choices }
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
}

/** Whether a provider takes runs of an endpoint now. */
export interface Supply {
  available: boolean
  /** Whether only the sandbox takes them. */
  isSampled?: boolean
  /** When the last of them turns its model off, if all have said so. */
  retiresAt?: string
  /** Since when the retirement is known. */
  deprecatedAt?: string
}

/** Finds the provider accounts that can run an input. */
export class Routes {
  readonly #dependencies: RoutesDependencies
  /** The account of each provider that comes next: they are used in turns. */
  readonly #turns = new Map<string, number>()
  #ofTests: Routes | undefined
  /** The chosen bindings of each endpoint, by the choices that were known last. */
  readonly #chosenOf = new Map<string, Bound[]>()
  #known: Choices | undefined

  constructor(dependencies: RoutesDependencies) {
    this.#dependencies = dependencies
  }

  /** The routes of one mode. Test runs go only to the sandbox, even if other providers are on. */
  ofMode({ livemode }: Moded): Routes {
    if (livemode !== false) return this
    this.#ofTests ??= new Routes({ ...this.#dependencies, accounts: [] })
    return this.#ofTests
  }

  /** Whether a provider that is on serves the endpoint. */
  servesEndpoint(endpoint: string): boolean {
    return this.#hasSandbox(endpoint) || this.#bindings(endpoint).length > 0
  }

  /** Whether a provider takes runs of the endpoint now, and until when providers have it. */
  supplyOf(endpoint: string): Supply {
    const available = this.waitMs(endpoint) === undefined
    const bindings = this.#bindings(endpoint)
    const days = bindings.map(({ retiresAt }) => retiresAt)
    if (this.#hasSandbox(endpoint)) return { available, ...(bindings.length === 0 && { isSampled: true }) }
    if (days.includes(undefined)) return { available }
    const last = days.sort().at(-1)
    if (last === undefined) return { available }
    const known = bindings.flatMap(({ source }) => source?.on ?? [])
    const deprecatedAt = known.sort().at(-1)
    return {
      available,
      retiresAt: startOf(last),
      ...(deprecatedAt !== undefined && { deprecatedAt: startOf(deprecatedAt) }),
    }
  }

  /**
   * Whether every provider that may have got a job for the endpoint recognises a repeated submission. One that has been
   * disabled since may have got it too.
   */
  deduplicates(endpoint: string): boolean {
    return this.#dependencies
      .bindingsOf(endpoint)
      .every(({ provider }) => this.#accountsOf(provider).every(({ client }) => client.deduplicates))
  }

  /** What no provider can honour of an input; undefined if one can honour all of it. */
  unmetParameters(endpoint: string, input: Record<string, unknown>): Unmet | undefined {
    let unmet: Unmet | undefined
    for (const binding of this.#bindings(endpoint)) {
      const mapped = upstreamParameters(binding, input)
      if ('parameters' in mapped) return undefined
      unmet ??= mapped.unmet
    }
    return this.#hasSandbox(endpoint) ? undefined : unmet
  }

  /** Whether all bindings that can honour an input can honour it with further parameters too. */
  honoursFurther(endpoint: string, input: Record<string, unknown>, further: Record<string, unknown>): boolean {
    return this.#bindings(endpoint).every(
      binding =>
        'unmet' in upstreamParameters(binding, input) ||
        'parameters' in upstreamParameters(binding, { ...input, ...further }),
    )
  }

  /** The providers that take jobs for an endpoint now, the best first. */
  *availableProviders(endpoint: string): Generator<string> {
    for (const { provider, model } of this.#bindings(endpoint))
      if (this.#accountsOf(provider).some(account => !this.#dependencies.breakers.openBreakerOf(account, model)))
        yield provider
    if (this.#hasSandbox(endpoint)) yield SANDBOX
  }

  /** How long no provider takes a job for an endpoint, or for an input of it; undefined if one takes it now. */
  waitMs(endpoint: string, input?: Record<string, unknown>): number | undefined {
    const { breakers, clock } = this.#dependencies
    if (this.#hasSandbox(endpoint)) return undefined
    let untilMs = clock.monotonicMs() + MAX_WAIT_MS
    for (const binding of this.#bindings(endpoint)) {
      if (input && 'unmet' in upstreamParameters(binding, input)) continue
      for (const account of this.#accountsOf(binding.provider)) {
        const open = breakers.openBreakerOf(account, binding.model)
        if (!open) return undefined
        untilMs = Math.min(untilMs, open.untilMs)
      }
    }
    return untilMs - clock.monotonicMs()
  }

  /**
   * The ways to run an input now, the best first, without accounts whose circuit breakers are open. `chosen`, the route
   * that was found when the run started, comes before the others.
   */
  *findRoutes(endpoint: string, input: Record<string, unknown>, chosen?: ProviderRoute): Generator<ProviderRoute> {
    if (chosen && !this.#dependencies.breakers.openBreakerOf(chosen.account, chosen.upstream.model)) yield chosen
    for (const binding of this.#bindings(endpoint)) {
      const mapped = upstreamParameters(binding, input)
      if ('unmet' in mapped) continue
      const { model, operation, output } = binding
      for (const account of this.#inTurn(binding.provider)) {
        const isChosen = account === chosen?.account && model === chosen.upstream.model
        if (isChosen || this.#dependencies.breakers.openBreakerOf(account, model)) continue
        yield { account, upstream: { model, operation, output, parameters: mapped.parameters } }
      }
    }
    const { sandbox } = this.#dependencies
    if (sandbox && sandbox !== chosen?.account && this.#hasSandbox(endpoint))
      yield { account: sandbox, upstream: { model: SANDBOX, operation: SANDBOX, parameters: input } }
  }

  /** Makes the next job go to another account of the provider. */
  passTurn({ account }: ProviderRoute) {
    this.#turns.set(account.provider, this.#accountsOf(account.provider).indexOf(account) + 1)
  }

  /**
   * The route to the account that has accepted a job. Undefined if the account is no longer configured. A provider that
   * an operator has disabled since then still reports the outcome.
   */
  findAcceptedRoute(
    endpoint: string,
    { provider, account, model }: { provider: string; account?: string | undefined; model: string },
  ): { account: ProviderAccount; upstream: UpstreamModel } | undefined {
    const { sandbox } = this.#dependencies
    if (provider === SANDBOX) return sandbox && { account: sandbox, upstream: { model, operation: SANDBOX } }
    const ofProvider = this.#accountsOf(provider)
    const found = ofProvider.find(each => each.account === account) ?? ofProvider[0]
    const binding = this.#bindingOf(endpoint, { provider, model })
    if (!found || !binding) return undefined
    return { account: found, upstream: { model, operation: binding.operation, output: binding.output } }
  }

  /** What an upstream charges for an endpoint, if that is known. */
  priceListOf(endpoint: string, upstream: Upstream): PriceList | undefined {
    return this.#bindingOf(endpoint, upstream)?.price
  }

  #bindingOf(endpoint: string, { provider, model }: Pick<Upstream, 'provider' | 'model'>): Bound | undefined {
    return this.#dependencies.bindingsOf(endpoint).find(each => each.provider === provider && each.model === model)
  }

  /** It never replaces a provider that is on: credits are not to be charged for samples by surprise. */
  #hasSandbox(endpoint: string): boolean {
    const { accounts, sandbox, fallsBack } = this.#dependencies
    if (sandbox === undefined) return false
    if (accounts.length === 0 || isTestEndpoint(endpoint)) return true
    return fallsBack && this.#bindings(endpoint).length === 0
  }

  /** Those whose provider is configured, chosen, and still has the model, the best first. */
  #bindings(endpoint: string): Bound[] {
    const nowMs = this.#dependencies.clock.nowMs()
    return this.#chosen(endpoint).filter(
      ({ retiresAt }) => retiresAt === undefined || nowMs < Date.parse(startOf(retiresAt)),
    )
  }

  /** Computed once per choice, since each run asks several times. */
  #chosen(endpoint: string): Bound[] {
    const { bindingsOf, choices } = this.#dependencies
    const { known } = choices
    if (this.#known !== known) this.#chosenOf.clear()
    this.#known = known
    let chosen = this.#chosenOf.get(endpoint)
    if (!chosen) {
      const configured = bindingsOf(endpoint).filter(({ provider }) => this.#accountsOf(provider).length > 0)
      chosen = chosenOf(known, endpoint, configured)
      this.#chosenOf.set(endpoint, chosen)
    }
    return chosen
  }

  #accountsOf(provider: string): ProviderAccount[] {
    return this.#dependencies.accounts.filter(each => each.provider === provider)
  }

  #inTurn(provider: string): ProviderAccount[] {
    const all = this.#accountsOf(provider)
    const turn = (this.#turns.get(provider) ?? 0) % all.length
    return [...all.slice(turn), ...all.slice(0, turn)]
  }
}

/** Vendors name the day. The first moment of it is a safe reading, at least in UTC. */
const startOf = (day: string): string => `${day}T00:00:00.000Z`

/** What events say of a route. */
export const upstreamOf = ({ account: { provider, account }, upstream: { model } }: ProviderRoute): Upstream => ({
  provider,
  model,
  ...(provider !== SANDBOX && { account }),
})
