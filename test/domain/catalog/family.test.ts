import t from 'tap'
import { isReplacedBy, namesOf, statusOf, visibleTo } from '../../../src/domain/catalog/family.ts'
import { endpoint, family } from '../../support/catalog-samples.ts'

const open = family('lumen', { aliases: ['glow'] }, [endpoint('t2i'), endpoint('i2i')])
const secret = family('umbra', { aliases: ['shade'] }, [endpoint('t2i', { status: 'test' })])
const mixed = family('nova', {}, [endpoint('t2v'), endpoint('i2v', { status: 'test' })])

t.test('the names of a family are its id, its aliases, and the ids of its endpoints', async t => {
  t.same(namesOf(open), ['lumen', 'glow', 'lumen-t2i', 'lumen-i2i'])
})

t.test('a withdrawn family and its endpoints are replaced by the family that says so', async t => {
  const heir = { ...open, replaces: ['sora', 'sora-pro'] }
  for (const name of ['sora', 'sora-t2v', 'sora-pro', 'sora-pro-i2v']) t.ok(isReplacedBy(name, heir), name)
  for (const name of ['sora-2', 'sor', 'lumen', 'sora-t2v-t2v']) t.notOk(isReplacedBy(name, heir), name)
  t.notOk(isReplacedBy('sora', open))
})

t.test('only testers see families in test', async t => {
  t.equal(visibleTo(secret, false), undefined)
  t.equal(visibleTo(secret, true)?.id, 'umbra')
})

t.test('other callers see only the public endpoints of a mixed family', async t => {
  t.same(
    visibleTo(mixed, false)?.endpoints.map(({ id }) => id),
    ['nova-t2v'],
  )
  t.same(
    visibleTo(mixed, true)?.endpoints.map(({ id }) => id),
    ['nova-t2v', 'nova-i2v'],
  )
})

t.test('the status of a family is that of all its endpoints, else mixed', async t => {
  t.same([open, secret, mixed].map(statusOf), ['public', 'test', 'mixed'])
})
