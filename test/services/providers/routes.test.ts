import t from 'tap'
import type { ProviderEvent } from '../../../schemas/provider-events.ts'
import { choices } from '../../../src/domain/routing/choices.ts'
import { Health } from '../../../src/services/providers/health.ts'
import type { ProviderAccount } from '../../../src/services/providers/provider-account.ts'
import type { Bound } from '../../../src/services/providers/routes.ts'
import { Routes, upstreamOf } from '../../../src/services/providers/routes.ts'
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

const open = (accounts: ProviderAccount[], fallsBack = false, ...history: ProviderEvent[]) => {
  const health = new Health(new ManualClock())
  const bindings = [bound('first'), bound('second', ['prompt', 'seed'])]
  const bindingsOf = (endpoint: string) => bindings.filter(each => each.endpoint === endpoint)
  const routes = new Routes({
    bindingsOf,
    accounts,
    sandbox,
    fallsBack,
    health,
    choices: { known: given(choices, ...history).state },
  })
  const names = (input: object = { prompt: 'hello' }, endpoint = 'lumen-t2i') =>
    [...routes.find(endpoint, { ...input })].map(({ account: { provider, account } }) => `${provider} ${account}`)
  return { routes, health, names }
}

t.test('the sandbox runs everything while no account is configured', async t => {
  const { routes, names } = open([])
  t.same(names(), ['sandbox a'])
  t.ok(routes.serves('anything'))
  t.equal(routes.unmet('lumen-t2i', { style: 'oil' }), undefined)
})

t.test('an input goes to the first binding that honours it, then to the others', async t => {
  const { routes, names } = open([account('first'), account('second')])
  t.same(names(), ['first a', 'second a'])
  t.same(names({ prompt: 'hello', seed: 1 }), ['second a'])
  t.same(names({ prompt: 'hello', style: 'oil' }), [])
  t.same(routes.unmet('lumen-t2i', { style: 'oil' }), { parameters: ['style'] })
  t.equal(routes.unmet('lumen-t2i', { seed: 1 }), undefined)
})

t.test('an endpoint that nobody is bound to is not served, unless the sandbox falls back', async t => {
  const { routes, names } = open([account('first')])
  t.notOk(routes.serves('other-t2i'))
  t.same(names({}, 'other-t2i'), [])
  t.same(names({}, 'sandbox-t2t'), ['sandbox a'], 'the test family is the sandbox’s')
  t.same(open([account('first')], true).names(), ['first a', 'sandbox a'])
})

t.test('the accounts of a provider are used in turns', async t => {
  const { routes, names } = open([account('first', 'a'), account('first', 'b')])
  const [route] = routes.find('lumen-t2i', { prompt: 'hello' })
  t.same(names(), ['first a', 'first b'])
  if (route) routes.took(route)
  t.same(names(), ['first b', 'first a'])
})

t.test('an account that rests is passed over', async t => {
  const [first, second] = [account('first'), account('second')]
  const { routes, health, names } = open([first, second])
  const trouble = { kind: 'unauthorized' } as const
  health.ended(first, 'first-lumen', { kind: 'failed', code: 'provider_error', message: 'No.', trouble })
  t.same(names(), ['second a'])
  t.same([...routes.providers('lumen-t2i')], ['second'])
  t.ok(routes.serves('lumen-t2i'))
})

t.test('a job is polled with the account that took it', async t => {
  const { routes } = open([account('first', 'a'), account('first', 'b')])
  const accepted = (name: string) =>
    routes.accepted('lumen-t2i', { provider: 'first', account: name, model: 'first-lumen' })?.account.account
  t.equal(accepted('b'), 'b')
  t.equal(accepted('gone'), 'a', 'another one may know it')
  t.equal(routes.accepted('lumen-t2i', { provider: 'second', model: 'second-lumen' }), undefined)
  const [route] = routes.find('lumen-t2i', { prompt: 'hello' })
  t.same(route && upstreamOf(route), { provider: 'first', model: 'first-lumen', account: 'a' })
})

t.test('what operators disable gets no jobs, and jobs that it has accepted are followed', async t => {
  const accounts = [account('first'), account('second')]
  const first = { provider: 'first', model: 'first-lumen' }
  const disabled = { type: 'ProviderDisabled', data: { provider: 'first' } } as const
  const lumen = { endpoint: 'lumen-t2i' }
  const binding = { type: 'BindingDisabled', data: { ...lumen, provider: 'second', model: 'second-lumen' } } as const
  const { routes, names } = open(accounts, false, disabled)
  t.same(names(), ['second a'])
  t.same(names({ prompt: 'hello', seed: 1 }), ['second a'])
  t.same([...routes.providers('lumen-t2i')], ['second'])
  t.equal(routes.accepted('lumen-t2i', first)?.account.provider, 'first')
  const none = open(accounts, false, disabled, binding)
  t.same(none.names(), [])
  t.notOk(none.routes.serves('lumen-t2i'))
  t.equal(none.routes.unmet('lumen-t2i', { prompt: 'hello' }), undefined)
  const onlyFirst = open(accounts, false, binding)
  t.same(onlyFirst.routes.unmet('lumen-t2i', { prompt: 'hello', seed: 1 }), { parameters: ['seed'] })
  t.same(open(accounts, true, disabled, binding).names(), ['sandbox a'])
  t.same(open([account('first')], false, disabled).names(), [], 'the sandbox stands in for no disabled provider')
})

t.test('the order of operators goes before the one that ships', async t => {
  const bindings = [{ provider: 'second', model: 'second-lumen' }]
  const order = { type: 'BindingsOrdered', data: { endpoint: 'lumen-t2i', bindings } } as const
  const { names } = open([account('first'), account('second')], false, order)
  t.same(names(), ['second a', 'first a'])
})

t.test('the price list of a disabled binding still tells what its last runs cost', async t => {
  const disabled = { type: 'ProviderDisabled', data: { provider: 'first' } } as const
  const price = { currency: 'USD', units: [{ unit: 'runs', micros: 1, per: 1 }] }
  const { routes } = open([account('first')], false, disabled)
  t.same(routes.priceListOf('lumen-t2i', { provider: 'first', model: 'first-lumen' }), price)
})
