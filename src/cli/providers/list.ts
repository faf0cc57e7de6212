import { Command } from 'commander'
import { type ProviderName, providerNames } from '../../../schemas/binding.ts'
import type { ReportedBreaker } from '../../../schemas/provider-report.ts'
import type { Config } from '../../boot/config.ts'
import { keyVariables } from '../../boot/read-config.ts'
import { shipped } from '../../catalog/shipped.ts'
import { accountDigest } from '../../services/providers/provider-account.ts'
import type { ReportedProvider } from '../../services/providers/provider-reports.ts'
import type { ChosenBinding } from '../../services/providers/routing.ts'
import { printable, wrapped } from '../audit/text.ts'
import { toColumns } from '../columns.ts'
import { operatorOf } from '../operator.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'
import { isRetired, type Retiring, retiringOf, retiringText } from './retiring.ts'

export const listProviders = (): Command =>
  new Command('list')
    .description('list providers with their state, their open circuit breakers, and their models that retire soon')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const { providers, nowMs } = await withCore(async core => {
        const { routing } = core.services
        const nowMs = core.clock.nowMs()
        const disabled = unwrap(await routing.disabledProviders(caller))
        const reported = unwrap(await routing.reported(caller))
        const bindings = unwrap(await routing.bindings(caller))
        const show = (provider: ProviderName) => ({
          ...stateOf(provider, core.config, disabled),
          accounts: accountsOf(provider, core),
          ...processesOf(reported.get(provider)),
          ...bindingsOf(provider, bindings, nowMs),
        })
        return { providers: providerNames.map(provider => ({ provider, ...show(provider) })), nowMs }
      })
      console.log(options.json ? JSON.stringify(providers) : toText(providers, nowMs))
    })

type Shown = ReturnType<typeof stateOf> &
  ReturnType<typeof processesOf> &
  ReturnType<typeof bindingsOf> & { provider: ProviderName; accounts: string[] }

type Disabled = ReadonlyMap<string, { reason?: string | undefined; at: string }>

const stateOf = (provider: ProviderName, { providers }: Config, disabled: Disabled) => {
  const isConfigured = providers.some(each => each.provider === provider)
  const choice = disabled.get(provider)
  return {
    state: choice ? 'disabled' : isConfigured ? 'on' : 'no key',
    is_configured: isConfigured,
    disabled_at: choice?.at ?? null,
    reason: choice?.reason ?? null,
  }
}

const accountsOf = (provider: ProviderName, { config, masterSecret }: { config: Config; masterSecret: string }) =>
  config.providers
    .filter(each => each.provider === provider)
    .flatMap(({ keys }) => keys.map(key => accountDigest(masterSecret, key)))

const processesOf = ({ processes, calls, maxCalls, openBreakers }: ReportedProvider = NO_REPORTS) => ({
  processes,
  calls,
  max_calls: maxCalls,
  rests: openBreakers.map(({ account, model = null, kind, until }) => ({ account, model, kind, until })),
})

const NO_REPORTS: ReportedProvider = { processes: 0, calls: 0, maxCalls: 0, openBreakers: [] }

const bindingsOf = (provider: ProviderName, all: ChosenBinding[], nowMs: number) => {
  const own = all.filter(({ binding, isDisabled }) => binding.provider === provider && !isDisabled)
  const bindings = own.map(({ binding }) => binding)
  const served = new Set(bindings.filter(binding => !isRetired(binding, nowMs)).map(({ endpoint }) => endpoint))
  const isServed = ({ id }: { id: string }) => served.has(id)
  return {
    families: shipped.filter(({ endpoints }) => endpoints.some(isServed)).map(({ id }) => id),
    retiring: retiringOf(bindings, nowMs),
  }
}

const toText = (providers: Shown[], nowMs: number): string => {
  const head = ['provider', 'state', 'accounts', 'calls', 'families']
  const table = toColumns(providers.map(rowOf), { head })
  const disabled = providers
    .filter(({ state }) => state === 'disabled')
    .map(({ provider, disabled_at, reason }) =>
      [`${provider}: disabled since ${disabled_at}`, ...(reason === null ? [] : [printable(reason)])].join(': '),
    )
  const on = providers.filter(({ is_configured }) => is_configured)
  const warnings = on.flatMap(({ provider, processes, rests, retiring }) => [
    ...rests.map(breaker => openBreakerText(provider, breaker, keyVariables[provider][0])),
    ...retiring.map((each: Retiring) => retiringText(each, nowMs)),
    ...(processes === 0 ? [`${provider}: no process with the role reactors reports calls.`] : []),
  ])
  const notes = [...disabled, ...warnings]
  return [table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')
}

/** The table has 80 columns. */
const FAMILIES_WIDTH = 36

const rowOf = ({ provider, state, accounts, processes, calls, max_calls, families }: Shown) => [
  provider,
  state,
  accounts.join('\n') || '–',
  processes === 0 ? '–' : `${calls} of ${max_calls}`,
  wrapped(families.join(', '), FAMILIES_WIDTH),
]

interface ShownBreaker extends Pick<ReportedBreaker, 'kind' | 'until' | 'account'> {
  model: string | null
}

/** The reason why a circuit breaker is open, and what the operator can do. */
const openBreakerText = (
  provider: string,
  { account, model, kind, until }: ShownBreaker,
  keyVariable: string,
): string => {
  const what = model === null ? `account ${account}` : `${model} with account ${account}`
  return `${provider}: the circuit breaker for ${what} is open until ${until}: ${REASONS[kind]}`.replace(
    'KEY',
    keyVariable,
  )
}

const REASONS: Record<ReportedBreaker['kind'], string> = {
  unauthorized: 'the provider refuses the key; check KEY.',
  out_of_quota: 'the account has no credit or quota left; see its billing page.',
  rate_limited: 'the provider limits the rate of requests.',
  overloaded: 'calls to the provider fail repeatedly.',
  unreachable: 'the provider does not answer.',
  gone: 'the provider does not offer this model; check its list of models, or disable the binding.',
}
