import t from 'tap'
import type { ProviderEvent } from '../../../schemas/provider-events.ts'
import { type ChoiceCommand, choices, chosenOf, nameOf, ordered } from '../../../src/domain/routing/choices.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const endpoint = 'lumen-t2i'
const [a, b, c] = ['one/a', 'two/b/b', 'two/c'].map(name => {
  const [provider = '', ...model] = name.split('/')
  return { provider, model: model.join('/') }
}) as [Name, Name, Name]
type Name = { provider: string; model: string }

const disabled: ProviderEvent = { type: 'ProviderDisabled', data: { provider: 'two', reason: 'too slow' } }
const enabled: ProviderEvent = { type: 'ProviderEnabled', data: { provider: 'two' } }
const bindingDisabled: ProviderEvent = { type: 'BindingDisabled', data: { endpoint, ...b } }
const bindingEnabled: ProviderEvent = { type: 'BindingEnabled', data: { endpoint, ...b } }
const order = (...bindings: Name[]): ProviderEvent => ({ type: 'BindingsOrdered', data: { endpoint, bindings } })

const setProvider = (enabled: boolean, reason?: string): ChoiceCommand => ({
  ...{ type: 'SetProvider', provider: 'two', enabled },
  reason,
})
const setBinding = (enabled: boolean): ChoiceCommand => ({ type: 'SetBinding', endpoint, binding: b, enabled })
const orderBindings = (...bindings: Name[]): ChoiceCommand => ({ type: 'OrderBindings', endpoint, bindings })

const chosen = (...history: ProviderEvent[]) =>
  chosenOf(given(choices, ...history).state, endpoint, [a, b, c]).map(nameOf)

t.test('a choice is an event, and a repeated one is none', async () => {
  given(choices).when(setProvider(false, 'too slow')).then(disabled)
  given(choices).when(setProvider(true)).then()
  given(choices, disabled).when(setProvider(false)).then()
  given(choices, disabled).when(setProvider(true)).then(enabled)
  given(choices, disabled, enabled).when(setProvider(true)).then()
  given(choices).when(setBinding(false)).then(bindingDisabled)
  given(choices).when(setBinding(true)).then()
  given(choices, bindingDisabled).when(setBinding(false)).then()
  given(choices, bindingDisabled).when(setBinding(true)).then(bindingEnabled)
  given(choices).when(orderBindings(c, a)).then(order(c, a))
  given(choices, order(c, a)).when(orderBindings(c, a)).then()
  given(choices, order(c, a)).when(orderBindings(a, c)).then(order(a, c))
  given(choices, order(c, a)).when(orderBindings()).then(order())
  given(choices).when(orderBindings()).then()
})

t.test('what is disabled is not chosen until it is enabled again', async t => {
  t.same(chosen(), ['one/a', 'two/b/b', 'two/c'])
  t.same(chosen(disabled), ['one/a'])
  t.same(chosen(disabled, enabled), ['one/a', 'two/b/b', 'two/c'])
  t.same(chosen(bindingDisabled), ['one/a', 'two/c'])
  t.same(chosen(disabled, bindingDisabled, enabled), ['one/a', 'two/c'])
  t.same(chosen(bindingDisabled, bindingEnabled), ['one/a', 'two/b/b', 'two/c'])
  const { state } = given(choices, bindingDisabled, order(c))
  t.same(chosenOf(state, 'other-t2i', [a, b, c]), [a, b, c], 'other endpoints are as they were')
})

t.test('an order puts the bindings that it names first', async t => {
  t.same(chosen(order(c)), ['two/c', 'one/a', 'two/b/b'])
  t.same(chosen(order(c, b)), ['two/c', 'two/b/b', 'one/a'])
  t.same(chosen(order(c), order(b)), ['two/b/b', 'one/a', 'two/c'])
  t.same(chosen(order(c), order()), ['one/a', 'two/b/b', 'two/c'])
  const gone = { provider: 'gone', model: 'x' }
  t.same(chosen(order(gone, c)), ['two/c', 'one/a', 'two/b/b'], 'a binding that no longer ships is passed over')
  const { state } = given(choices, order(b), bindingDisabled)
  t.same(ordered(state, endpoint, [a, b, c]), [b, a, c], 'a disabled binding keeps its place')
})

t.test('each end of a wait is an event, and the last one of each name is known', async t => {
  const ended: ProviderEvent = { type: 'ProviderWaitEnded', data: { provider: 'two', account: 'a' } }
  given(choices, ended).when({ type: 'EndWait', provider: 'two', account: 'a' }).then(ended)
  const whole: ProviderEvent = { type: 'ProviderWaitEnded', data: { provider: 'two' } }
  const past = [ended, whole, ended].map((event, revision) => ({ ...at(THEN_MS, event), revision }))
  t.same(
    [...given(choices, ...past).state.endedWaits.values()],
    [
      { provider: 'two', account: 'a', revision: 2 },
      { provider: 'two', revision: 1 },
    ],
  )
})

t.test('a disabled provider has the reason and the time', async t => {
  const { disabledProviders } = given(choices, at(THEN_MS, disabled)).state
  t.same(disabledProviders.toObject(), { two: { reason: 'too slow', at: new Date(THEN_MS).toISOString() } })
})
