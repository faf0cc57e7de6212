import t from 'tap'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import type { Done, Failed, ProviderFault } from '../../../src/ports/provider.ts'
import { CircuitBreakers } from '../../../src/services/providers/circuit-breakers.ts'
import { instantProvider } from '../../support/service.ts'

const account = { provider: 'fal', account: 'a', client: instantProvider }
const other = { ...account, account: 'b' }
const done: Done = { kind: 'done', media: [] }
const failed = (kind: ProviderFault['kind'], retryAfterMs?: number): Failed => ({
  ...{ kind: 'failed', code: 'provider_error', message: 'No.' },
  fault: { kind, ...(retryAfterMs !== undefined && { retryAfterMs }) },
})

const open = () => {
  let nowMs = 0
  const breakers = new CircuitBreakers({ ...systemClock, monotonicMs: () => nowMs })
  const clock = {
    advance: (ms: number) => {
      nowMs += ms
    },
  }
  return { clock, breakers, openKind: (model = 'm', which = account) => breakers.openBreakerOf(which, model)?.kind }
}

t.test('the breaker of a model opens after five failures in succession', async t => {
  const { clock, breakers, openKind } = open()
  for (let failure = 1; failure <= 4; failure++) breakers.endCall(account, 'm', failed('overloaded'))
  breakers.endCall(account, 'm', done)
  for (let failure = 1; failure <= 4; failure++) breakers.endCall(account, 'm', undefined)
  t.equal(openKind(), undefined)
  breakers.endCall(account, 'm', failed('overloaded'))
  t.equal(openKind(), 'overloaded')
  t.equal(openKind('n'), undefined, 'other models still take jobs')
  clock.advance(30_000)
  t.equal(openKind(), undefined)
})

t.test('a watcher learns which accounts are refused, and which work', async t => {
  const told: string[] = []
  const breakers = new CircuitBreakers(systemClock, {
    works: ({ account }) => told.push(`${account} works`),
    refused: ({ account }, reason) => told.push(`${account} ${reason}`),
  })
  for (const kind of ['unauthorized', 'out_of_quota', 'overloaded', 'gone', 'rate_limited'] as const)
    breakers.endCall(account, 'm', failed(kind))
  breakers.endCall(account, 'm', undefined)
  breakers.endCall(other, 'm', done)
  t.same(told, ['a unauthorized', 'a out_of_quota', 'b works'])
})

t.test('after the time of a breaker, one attempt shows whether the model works again', async t => {
  const { clock, breakers, openKind } = open()
  const openAndWait = () => {
    for (let failure = 1; failure <= 5; failure++) breakers.endCall(account, 'm', failed('unreachable'))
    clock.advance(30_000)
  }
  openAndWait()
  breakers.beginCall(account, 'm')
  t.equal(openKind(), 'unreachable', 'others wait for it')
  breakers.endCall(account, 'm', failed('unreachable'))
  t.equal(openKind(), 'unreachable')
  clock.advance(30_000)
  breakers.beginCall(account, 'm')
  breakers.abandonCall(account, 'm')
  t.equal(openKind(), undefined, 'the next one may try')
  breakers.beginCall(account, 'm')
  breakers.endCall(account, 'm', done)
  breakers.beginCall(account, 'm')
  t.equal(openKind(), undefined)
})

t.test('a model that the provider does not have is logged once, and its breaker opens after five failures', async t => {
  const { breakers, openKind } = open()
  const told = (model: string) => breakers.endCall(account, model, failed('gone')).fault
  t.equal(told('m'), 'gone')
  t.equal(openKind(), undefined, 'another input may work')
  for (let failure = 2; failure <= 5; failure++) t.equal(told('m'), undefined)
  t.equal(openKind(), 'gone')
  t.equal(openKind('n'), undefined)
  t.equal(told('n'), 'gone', 'another model is reported by itself')
  breakers.endCall(account, 'm', done)
  t.equal(told('m'), 'gone')
})

t.test('the breaker of a refused account covers all its models', async t => {
  for (const kind of ['unauthorized', 'out_of_quota'] as const) {
    const { clock, breakers, openKind } = open()
    breakers.endCall(account, 'm', failed(kind, 1000))
    t.equal(openKind('n'), kind)
    t.equal(openKind('m', other), undefined)
    clock.advance(5 * 60_000 - 1)
    t.equal(openKind(), kind)
    clock.advance(1)
    t.equal(openKind(), undefined)
  }
})

t.test('the breaker of an account that is too fast stays open as long as the provider says', async t => {
  for (const [saidMs, openMs] of [
    [7000, 7000],
    [undefined, 5000],
    [10 ** 9, 300_000],
  ] as const) {
    const { clock, breakers, openKind } = open()
    breakers.endCall(account, 'm', failed('rate_limited', saidMs))
    clock.advance(openMs - 1)
    t.equal(openKind(), 'rate_limited')
    clock.advance(1)
    t.equal(openKind(), undefined)
  }
})

t.test('an account that begins to be refused is reported once, until it works again', async t => {
  const { clock, breakers } = open()
  const told = (answer: Failed | Done | undefined) => breakers.endCall(account, 'm', answer).fault
  t.equal(told(failed('unauthorized')), 'unauthorized')
  t.equal(told(failed('unauthorized')), undefined, 'another run was on its way')
  clock.advance(5 * 60_000)
  breakers.beginCall(account, 'm')
  t.equal(told(failed('unauthorized')), undefined)
  t.equal(told(failed('out_of_quota')), 'out_of_quota')
  t.equal(told(done), undefined)
  t.equal(told(failed('out_of_quota')), 'out_of_quota')
  t.equal(
    breakers.endCall(other, 'm', failed('out_of_quota')).fault,
    'out_of_quota',
    'another account is reported by itself',
  )
  for (const kind of ['rate_limited', 'overloaded', 'unreachable'] as const) t.equal(told(failed(kind)), undefined)
  for (let failure = 1; failure <= 5; failure++) t.equal(told(undefined), undefined)
})

t.test('open breakers are listed while they are open', async t => {
  const { clock, breakers } = open()
  t.same(breakers.openBreakers(), [])
  breakers.endCall(other, 'm', failed('rate_limited', 20_000))
  for (let failure = 1; failure <= 5; failure++) breakers.endCall(account, 'fal-ai/m/v2', failed('overloaded'))
  t.same(breakers.openBreakers(), [
    { kind: 'rate_limited', untilMs: 20_000, provider: 'fal', account: 'b' },
    { kind: 'overloaded', untilMs: 30_000, provider: 'fal', account: 'a', model: 'fal-ai/m/v2' },
  ])
  clock.advance(20_000)
  t.match(breakers.openBreakers(), [{ account: 'a' }])
  t.equal(breakers.openBreakers().length, 1)
  clock.advance(10_000)
  t.same(breakers.openBreakers(), [])
})

t.test('a wait is reported when it begins, and again only after an attempt has succeeded', async t => {
  const { clock, breakers } = open()
  const began = (answer: Failed | Done | undefined) => breakers.endCall(account, 'm', answer).opened
  t.same(began(failed('unauthorized')), { kind: 'unauthorized', untilMs: 300_000, provider: 'fal', account: 'a' })
  t.equal(began(failed('unauthorized')), undefined, 'another run was on its way')
  clock.advance(300_000)
  breakers.beginCall(account, 'm')
  t.equal(began(failed('unauthorized')), undefined, 'the wait goes on')
  began(done)
  for (let failure = 1; failure <= 4; failure++) t.equal(began(undefined), undefined)
  t.match(began(undefined), { kind: 'unreachable', account: 'a', model: 'm' })
  t.equal(began(undefined), undefined)
})

t.test('the longer wait of an account and its model counts', async t => {
  const { breakers } = open()
  for (let failure = 1; failure <= 5; failure++) breakers.endCall(account, 'm', failed('overloaded'))
  breakers.endCall(account, 'n', failed('rate_limited', 5_000))
  t.equal(breakers.openBreakerOf(account, 'm')?.untilMs, 30_000)
  t.equal(breakers.openBreakerOf(account, 'n')?.untilMs, 5_000)
})

t.test('an operator ends the wait of an account, of a model or of a whole provider', async t => {
  const works: string[] = []
  const watcher = { works: (of: { account: string }) => works.push(of.account), refused: () => undefined }
  for (const [of, left] of [
    [{ provider: 'fal', account: 'a' }, ['b', 'c', 'b/m']],
    [{ provider: 'fal', model: 'm' }, ['a', 'b', 'c']],
    [{ provider: 'fal' }, ['c']],
    [{ provider: 'openai' }, ['a', 'b', 'a/m', 'b/m']],
  ] as const) {
    const breakers = new CircuitBreakers(systemClock, watcher)
    const refused = [account, other, { ...account, provider: 'openai', account: 'c' }]
    for (const each of refused) breakers.endCall(each, 'n', failed('unauthorized'))
    for (let failure = 1; failure <= 5; failure++)
      for (const each of [account, other]) breakers.endCall(each, 'm', undefined)
    breakers.endWait(of)
    t.same(
      breakers.openBreakers().map(({ account, model }) => (model === undefined ? account : `${account}/${model}`)),
      left,
      JSON.stringify(of),
    )
  }
  t.same(works, ['a'], 'only a named account has been checked')
  const { breakers, openKind } = open()
  breakers.endCall(account, 'm', failed('unauthorized'))
  breakers.endWait({ provider: 'fal' })
  breakers.beginCall(account, 'm')
  t.equal(openKind(), undefined, 'no attempt holds up others')
  t.equal(breakers.endCall(account, 'm', failed('unauthorized')).fault, 'unauthorized', 'the operator is told again')
})
