import t from 'tap'
import type { ProviderEvent } from '../../../schemas/provider-events.ts'
import { choices } from '../../../src/domain/routing/choices.ts'
import type { ProviderFault } from '../../../src/ports/provider.ts'
import { CircuitBreakers } from '../../../src/services/providers/circuit-breakers.ts'
import type { ProviderAccount } from '../../../src/services/providers/provider-account.ts'
import { type Bound, Routes, upstreamOf } from '../../../src/services/providers/routes.ts'
import { given } from '../../support/given.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { instantProvider } from '../../support/service.ts'

const bound = (provider: string, names: string[] = ['prompt']): Bound => ({
  ...{ endpoint: 'lumen-t2i', provider, model: `${provider}-lumen`, operation: 'make' },
  parameters: names.map(name => ({ from: name, to: name })),
  price: { currency: 'USD', units: [{ unit: 'runs', micros: 1, per: 1 }] },
})
const account = (provider: string, name = 'a'): ProviderAccount => ({
  provider,
  account: name,
  client: instantProvider,
})
const sandbox = account('sandbox')

interface Options {
  fallsBack?: boolean
  bindings?: Bound[]
  history?: ProviderEvent[]
}

const open = (
  accounts: ProviderAccount[],
  { fallsBack = false, bindings = [bound('first'), bound('second', ['prompt', 'seed'])], history = [] }: Options = {},
) => {
  const manual = new ManualClock()
  const clock = Object.assign(manual, { monotonicMs: () => manual.nowMs() })
  const breakers = new CircuitBreakers(clock)
  const bindingsOf = (endpoint: string) => bindings.filter(each => each.endpoint === endpoint)
  const known = given(choices, ...history).state
  const routes = new Routes({ bindingsOf, accounts, sandbox, fallsBack, breakers, choices: { known }, clock })
  const names = (input: object = { prompt: 'hello' }, endpoint = 'lumen-t2i') =>
    [...routes.findRoutes(endpoint, { ...input })].map(({ account: { provider, account } }) => `${provider} ${account}`)
  return { routes, breakers, names, clock }
}

t.test('the sandbox runs everything while no account is configured', async t => {
  const { routes, names } = open([])
  t.same(names(), ['sandbox a'])
  t.ok(routes.servesEndpoint('anything'))
  t.equal(routes.unmetParameters('lumen-t2i', { style: 'oil' }), undefined)
})

t.test('an input goes to the first binding that honours it, then to the others', async t => {
  const { routes, names } = open([account('first'), account('second')])
  t.same(names(), ['first a', 'second a'])
  t.same(names({ prompt: 'hello', seed: 1 }), ['second a'])
  t.same(names({ prompt: 'hello', style: 'oil' }), [])
  t.same(routes.unmetParameters('lumen-t2i', { style: 'oil' }), { parameters: ['style'] })
  t.equal(routes.unmetParameters('lumen-t2i', { seed: 1 }), undefined)
})

t.test('a further parameter is honoured where it rules out no provider', async t => {
  const honours = (input: object, ...providers: string[]) =>
    open(providers.map(name => account(name))).routes.honoursFurther('lumen-t2i', { ...input }, { seed: 1 })
  t.notOk(honours({ prompt: 'hello' }, 'first', 'second'), 'the first has no seed')
  t.ok(honours({ prompt: 'hello' }, 'second'))
  t.ok(honours({ prompt: 'hello' }), 'the sandbox alone')
  t.ok(honours({ style: 'oil' }, 'first'), 'the first cannot run it anyway')
})

t.test('a job is repeated only if all providers that may have got it recognise that', async t => {
  const forgetful = (provider: string) => ({
    ...account(provider),
    client: { ...instantProvider, deduplicates: false },
  })
  const knowing = (provider: string) => ({ ...account(provider), client: { ...instantProvider, deduplicates: true } })
  const repeats = (accounts: ProviderAccount[], history: ProviderEvent[] = []) =>
    open(accounts, { history }).routes.deduplicates('lumen-t2i')
  t.ok(repeats([]), 'the sandbox alone')
  t.ok(repeats([knowing('first'), knowing('second')]))
  t.notOk(repeats([knowing('first'), forgetful('second')]))
  t.ok(repeats([knowing('first'), forgetful('elsewhere')]), 'another endpoint’s provider')
  const disabled: ProviderEvent = { type: 'ProviderDisabled', data: { provider: 'second' } }
  t.notOk(repeats([knowing('first'), forgetful('second')], [disabled]), 'it may have been disabled since')
})

t.test('an endpoint that nobody is bound to is not served, unless the sandbox falls back', async t => {
  const { routes, names } = open([account('first')])
  t.notOk(routes.servesEndpoint('other-t2i'))
  t.same(names({}, 'other-t2i'), [])
  t.same(names({}, 'sandbox-t2t'), ['sandbox a'], 'the test family is the sandbox’s')
  const fallback = open([account('first')], { fallsBack: true })
  t.same(fallback.names({}, 'other-t2i'), ['sandbox a'])
})

t.test(
  'the sandbox does not fall back for a provider whose breaker is open, or that cannot honour an input',
  async t => {
    const { routes, breakers, names } = open([account('first')], { fallsBack: true })
    t.same(names(), ['first a'])
    t.same(names({ prompt: 'hello', style: 'oil' }), [])
    t.same(routes.unmetParameters('lumen-t2i', { style: 'oil' }), { parameters: ['style'] })
    const fault = { kind: 'out_of_quota' } as const
    breakers.endCall(account('first'), 'first-lumen', { kind: 'failed', code: 'provider_error', message: 'No.', fault })
    t.same(names(), [])
    t.equal(routes.waitMs('lumen-t2i'), 300_000)
  },
)

t.test('a model gets no runs from the day that its provider turns it off', async t => {
  const accounts = [account('first'), account('second')]
  const bindings = [
    { ...bound('first'), retiresAt: '2026-12-01' },
    { ...bound('second'), retiresAt: '2026-12-11' },
  ]
  const { routes, names, clock } = open(accounts, { bindings })
  const at = (time: string) => clock.advance(Date.parse(time) - clock.nowMs())
  at('2026-11-30T23:59:59.999Z')
  t.same(names(), ['first a', 'second a'])
  t.same(routes.supplyOf('lumen-t2i'), { available: true, retiresAt: '2026-12-11T00:00:00.000Z' })
  at('2026-12-01T00:00:00.000Z')
  t.same(names(), ['second a'])
  at('2026-12-11T00:00:00.000Z')
  t.same(names(), [])
  t.notOk(routes.servesEndpoint('lumen-t2i'))
  t.same(routes.supplyOf('lumen-t2i'), { available: false })
  t.ok(
    routes.findAcceptedRoute('lumen-t2i', { provider: 'first', model: 'first-lumen' }),
    'its jobs are still followed',
  )
})

t.test('an endpoint has no end while one provider has announced none, or the sandbox serves it', async t => {
  const bindings = [{ ...bound('first'), retiresAt: '2099-12-01' }, bound('second')]
  const supplyOf = (accounts: ProviderAccount[]) => open(accounts, { bindings }).routes.supplyOf('lumen-t2i')
  t.same(supplyOf([account('first'), account('second')]), { available: true })
  t.same(supplyOf([]), { available: true, isSampled: true })
  t.same(supplyOf([account('first')]), { available: true, retiresAt: '2099-12-01T00:00:00.000Z' })
})

t.test('the accounts of a provider are used in turns', async t => {
  const { routes, names } = open([account('first', 'a'), account('first', 'b')])
  const [route] = routes.findRoutes('lumen-t2i', { prompt: 'hello' })
  t.same(names(), ['first a', 'first b'])
  if (route) routes.passTurn(route)
  t.same(names(), ['first b', 'first a'])
})

t.test('the route that was chosen at the start comes first, unless its circuit breaker has opened since', async t => {
  const accounts = [account('first', 'a'), account('first', 'b'), account('second', 'c')]
  const { routes, breakers, names } = open(accounts)
  const chosen = [...routes.findRoutes('lumen-t2i', { prompt: 'hello' })][1]
  const again = () => [...routes.findRoutes('lumen-t2i', { prompt: 'hello' }, chosen)].map(each => each.account.account)
  t.same(again(), ['b', 'a', 'c'])
  const fault = { kind: 'unauthorized' } as const
  if (chosen)
    breakers.endCall(chosen.account, 'first-lumen', { kind: 'failed', code: 'provider_error', message: 'No.', fault })
  t.same(
    [names(), again()],
    [
      ['first a', 'second c'],
      ['a', 'c'],
    ],
  )
  const [sample] = open([]).routes.findRoutes('lumen-t2i', { prompt: 'hello' })
  t.equal([...open([]).routes.findRoutes('lumen-t2i', { prompt: 'hello' }, sample)].length, 1)
})

t.test('an account with an open breaker is passed over', async t => {
  const [first, second] = [account('first'), account('second')]
  const { routes, breakers, names } = open([first, second])
  const fault = { kind: 'unauthorized' } as const
  breakers.endCall(first, 'first-lumen', { kind: 'failed', code: 'provider_error', message: 'No.', fault })
  t.same(names(), ['second a'])
  t.same([...routes.availableProviders('lumen-t2i')], ['second'])
  t.ok(routes.servesEndpoint('lumen-t2i'))
})

t.test('an endpoint is available only if a provider takes a run of it now, and the wait is the shortest', async t => {
  const [first, second] = [account('first'), account('second')]
  const { routes, breakers, clock } = open([first, second])
  const refuse = (which: ProviderAccount, fault: ProviderFault) =>
    breakers.endCall(which, `${which.provider}-lumen`, {
      kind: 'failed',
      code: 'provider_error',
      message: 'No.',
      fault,
    })
  t.same(routes.supplyOf('lumen-t2i'), { available: true })
  refuse(second, { kind: 'rate_limited', retryAfterMs: 20_000 })
  t.same(routes.supplyOf('lumen-t2i'), { available: true })
  t.equal(routes.waitMs('lumen-t2i'), undefined)
  t.equal(routes.waitMs('lumen-t2i', { prompt: 'hello', seed: 1 }), 20_000, 'only the second takes a seed')
  refuse(first, { kind: 'unauthorized' })
  t.same(routes.supplyOf('lumen-t2i'), { available: false })
  clock.advance(5_000)
  t.equal(routes.waitMs('lumen-t2i'), 15_000)
  t.equal(routes.ofMode({ livemode: false }).waitMs('lumen-t2i'), undefined, 'test runs go to the sandbox')
  clock.advance(15_000)
  t.same(routes.supplyOf('lumen-t2i'), { available: true })
})

t.test('a job is polled with the account that took it', async t => {
  const { routes } = open([account('first', 'a'), account('first', 'b')])
  const accepted = (name: string) =>
    routes.findAcceptedRoute('lumen-t2i', { provider: 'first', account: name, model: 'first-lumen' })?.account.account
  t.equal(accepted('b'), 'b')
  t.equal(accepted('gone'), 'a', 'another one may know it')
  t.equal(routes.findAcceptedRoute('lumen-t2i', { provider: 'second', model: 'second-lumen' }), undefined)
  const [route] = routes.findRoutes('lumen-t2i', { prompt: 'hello' })
  t.same(route && upstreamOf(route), { provider: 'first', model: 'first-lumen', account: 'a' })
})

t.test('what operators disable gets no jobs, and jobs that it has accepted are followed', async t => {
  const accounts = [account('first'), account('second')]
  const first = { provider: 'first', model: 'first-lumen' }
  const disabled = { type: 'ProviderDisabled', data: { provider: 'first' } } as const
  const lumen = { endpoint: 'lumen-t2i' }
  const binding = { type: 'BindingDisabled', data: { ...lumen, provider: 'second', model: 'second-lumen' } } as const
  const { routes, names } = open(accounts, { history: [disabled] })
  t.same(names(), ['second a'])
  t.same(names({ prompt: 'hello', seed: 1 }), ['second a'])
  t.same([...routes.availableProviders('lumen-t2i')], ['second'])
  t.equal(routes.findAcceptedRoute('lumen-t2i', first)?.account.provider, 'first')
  const none = open(accounts, { history: [disabled, binding] })
  t.same(none.names(), [])
  t.notOk(none.routes.servesEndpoint('lumen-t2i'))
  t.equal(none.routes.unmetParameters('lumen-t2i', { prompt: 'hello' }), undefined)
  const onlyFirst = open(accounts, { history: [binding] })
  t.same(onlyFirst.routes.unmetParameters('lumen-t2i', { prompt: 'hello', seed: 1 }), { parameters: ['seed'] })
  t.same(open(accounts, { fallsBack: true, history: [disabled, binding] }).names(), ['sandbox a'])
  t.same(
    open([account('first')], { history: [disabled] }).names(),
    [],
    'the sandbox stands in for no disabled provider',
  )
})

t.test('the order of operators goes before the one that ships', async t => {
  const bindings = [{ provider: 'second', model: 'second-lumen' }]
  const order = { type: 'BindingsOrdered', data: { endpoint: 'lumen-t2i', bindings } } as const
  const { names } = open([account('first'), account('second')], { history: [order] })
  t.same(names(), ['second a', 'first a'])
})

t.test('the price list of a disabled binding still tells what its last runs cost', async t => {
  const disabled = { type: 'ProviderDisabled', data: { provider: 'first' } } as const
  const price = { currency: 'USD', units: [{ unit: 'runs', micros: 1, per: 1 }] }
  const { routes } = open([account('first')], { history: [disabled] })
  t.same(routes.priceListOf('lumen-t2i', { provider: 'first', model: 'first-lumen' }), price)
})
