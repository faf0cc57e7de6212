import t from 'tap'
import { Health } from '../../../src/services/providers/health.ts'
import type { ProviderAccount } from '../../../src/services/providers/provider-account.ts'
import type { Bound } from '../../../src/services/providers/routes.ts'
import { Routes, upstreamOf } from '../../../src/services/providers/routes.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { instantProvider } from '../../support/service.ts'

const bound = (provider: string, names: string[] = ['prompt']): Bound => ({
  ...{ endpoint: 'lumen-t2i', provider, model: `${provider}-lumen`, operation: 'make' },
  parameters: names.map(name => ({ from: name, to: name })),
})
const account = (provider: string, name = 'a'): ProviderAccount => ({
  provider,
  account: name,
  client: instantProvider,
})
const sandbox = account('sandbox')

const open = (accounts: ProviderAccount[], fallsBack = false) => {
  const health = new Health(new ManualClock())
  const bindings = [bound('first'), bound('second', ['prompt', 'seed'])]
  const bindingsOf = (endpoint: string) => bindings.filter(each => each.endpoint === endpoint)
  const routes = new Routes({ bindingsOf, accounts, sandbox, fallsBack, health })
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
