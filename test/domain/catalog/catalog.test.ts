import t from 'tap'
import type { Family } from '../../../schemas/catalog.ts'
import type { CatalogEvent } from '../../../schemas/catalog-events.ts'
import { shipped } from '../../../src/catalog/shipped.ts'
import { type CatalogCommand, catalog, commandsToShip, putByHand } from '../../../src/domain/catalog/catalog.ts'
import { family, publish, published, revise, revised, withdraw, withdrawn } from '../../support/catalog-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const lumen = family('lumen')
const renamed = family('lumen', { name: 'Lumen Two' })
const umbra = family('umbra')
const faulty = family('lumen', { aliases: ['umbra'] })
const asManual = (event: CatalogEvent) => ({ ...event, data: { ...event.data, byHand: true } }) as CatalogEvent
const asManualCommand = (command: CatalogCommand): CatalogCommand => ({ ...command, byHand: true })
const clash = { fault: { id: 'lumen', code: 'name_taken', name: 'umbra' } } as const

t.test('a family is published only once', async () => {
  given(catalog).when(publish(lumen)).then(published(lumen))
  given(catalog, published(lumen)).when(publish(renamed)).refused('family_exists')
})

t.test('a family is revised only when it differs', async () => {
  given(catalog, published(lumen)).when(revise(renamed)).then(revised(renamed))
  given(catalog, published(lumen), revised(renamed)).when(revise(renamed)).refused('family_unchanged')
  given(catalog).when(revise(lumen)).refused('family_not_found')
})

t.test('a family is not revised after a change that the operator has not seen', async () => {
  const history = given(catalog, published(lumen), { ...at(THEN_MS, revised(renamed)), revision: 1 })
  const other = family('lumen', { name: 'Lumen Three' })
  const reviseAfter = (after: number, family: Family) => ({ type: 'ReviseFamily', family, after }) as const
  history.when(reviseAfter(1, other)).then(revised(other))
  history.when(reviseAfter(0, other)).refused('family_changed')
  history.when(reviseAfter(0, renamed)).refused('family_unchanged')
})

t.test('the order of fields does not count as a difference', async () => {
  const reordered = Object.fromEntries(Object.entries(lumen).reverse()) as typeof lumen
  given(catalog, published(lumen)).when(revise(reordered)).refused('family_unchanged')
})

t.test('a withdrawn family can be published again', async () => {
  given(catalog, published(lumen)).when(withdraw('lumen')).then(withdrawn('lumen'))
  given(catalog, published(lumen), withdrawn('lumen')).when(withdraw('lumen')).refused('family_not_found')
  given(catalog, published(lumen), withdrawn('lumen')).when(publish(lumen)).then(published(lumen))
})

t.test('an invalid family can be neither published nor revised', async () => {
  given(catalog, published(umbra)).when(publish(faulty)).refused('family_invalid', clash)
  given(catalog, published(umbra), published(lumen)).when(revise(faulty)).refused('family_invalid', clash)
  given(catalog, published(umbra), withdrawn('umbra')).when(publish(faulty)).then(published(faulty))
})

t.test('refusals follow a fixed order', async t => {
  const both = given(catalog, published(umbra), published(lumen))
  t.equal(both.when(publish(faulty)).refusal, 'family_exists')
  t.equal(given(catalog, published(umbra)).when(publish(faulty)).refusal, 'family_invalid')
  t.equal(given(catalog, published(umbra)).when(revise(faulty)).refusal, 'family_not_found')
  t.equal(given(catalog, published(umbra), published(faulty)).when(revise(faulty)).refusal, 'family_unchanged')
  t.equal(both.when(revise(faulty)).refusal, 'family_invalid')
})

t.test('new shipped families are published, changed ones revised and equal ones left alone', async t => {
  const { state } = given(catalog, published(lumen), published(umbra))
  const nova = family('nova')
  t.same(commandsToShip(state, [renamed, umbra, nova]), [revise(renamed), publish(nova)])
})

t.test('families that no longer ship are withdrawn before new ones take their names', async t => {
  const { state } = given(catalog, published(lumen), published(umbra))
  const successor = family('nova', { aliases: ['umbra'] })
  t.same(commandsToShip(state, [lumen, successor]), [withdraw('umbra'), publish(successor)])
})

t.test('manual changes by the operator stay until they are released', async t => {
  const history = [published(lumen), published(umbra), asManual(revised(renamed)), asManual(withdrawn('umbra'))]
  const { state } = given(catalog, ...history)
  t.same(commandsToShip(state, [lumen, umbra]), [])
  t.same(commandsToShip(state, [lumen, umbra], { revertByHand: true }), [revise(lumen), publish(umbra)])
  const after = given(catalog, ...history, revised(lumen), published(umbra)).state
  t.same(commandsToShip(after, [renamed, umbra]), [revise(renamed)], 'the service manages it again')
})

t.test('taking manual control of a family is a change even if the family stays the same', async t => {
  const { state } = given(catalog, published(lumen))
  t.same(putByHand(state, [lumen, umbra]), [asManualCommand(revise(lumen)), asManualCommand(publish(umbra))])
  given(catalog, published(lumen))
    .when(asManualCommand(revise(lumen)))
    .then(asManual(revised(lumen)))
  given(catalog, asManual(published(lumen)))
    .when(asManualCommand(revise(lumen)))
    .refused('family_unchanged')
  given(catalog, asManual(published(lumen)))
    .when(revise(lumen))
    .then(revised(lumen))
})

t.test('all shipped families can be published together', async t => {
  const history: CatalogEvent[] = []
  for (const one of shipped) {
    given(catalog, ...history)
      .when(publish(one))
      .then(published(one))
    history.push(published(one))
  }
  t.same(commandsToShip(given(catalog, ...history).state, shipped), [])
})
