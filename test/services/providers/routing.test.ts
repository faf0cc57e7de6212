import t from 'tap'
import { PROVIDERS_STREAM } from '../../../schemas/events.ts'
import { bindings } from '../../../src/catalog/shipped.ts'
import { nameOf } from '../../../src/domain/routing/choices.ts'
import { ProviderChoices } from '../../../src/services/providers/provider-choices.ts'
import { Routing } from '../../../src/services/providers/routing.ts'
import { collect } from '../../support/collect.ts'
import { ambient, openLog } from '../../support/engine.ts'

const operator = { kind: 'operator', name: 'Ada' } as const

t.test('to enable a binding ends the wait of its model, and of no other', async t => {
  const log = await openLog(t)
  const parts = ambient()
  const soon = (ms: number) => parts.clock.nowMs() + ms
  const [binding, other] = bindings as [(typeof bindings)[0], (typeof bindings)[0]]
  const { provider, model } = binding
  const rest = { provider, account: 'a', model, kind: 'overloaded', until: new Date(soon(20_000)).toISOString() }
  const text = JSON.stringify({ calls: { [provider]: 0 }, maxCalls: 8, rests: [rest] })
  const views = { reports: async () => [{ text, untilMs: soon(20_000) }] }
  const routing = new Routing({ choices: new ProviderChoices({ log, ...parts }), bindings, views, ...parts })
  const enable = (each: typeof binding) => routing.setBinding(operator, each.endpoint, nameOf(each), true)
  t.same(await enable(other), { value: { isChange: false } })
  t.same(await enable(binding), { value: { isChange: true } })
  const events = await collect(log.readStream(PROVIDERS_STREAM, 0))
  t.match(events, [{ type: 'ProviderWaitEnded', data: { provider, model } }])
})
