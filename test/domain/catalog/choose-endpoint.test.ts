import t from 'tap'
import { chooseEndpoint, goesBy, visibleTo } from '../../../src/domain/catalog/choose-endpoint.ts'
import { endpoint, family } from '../../support/catalog-samples.ts'

const open = family('lumen', { aliases: ['glow'] }, [endpoint('t2i'), endpoint('i2i')])
const secret = family('umbra', { aliases: ['shade'] }, [endpoint('t2i', { status: 'test' })])
const mixed = family('nova', {}, [endpoint('t2v'), endpoint('i2v', { status: 'test' })])

t.test('a model is named by its id or an alias, and by nothing else', async t => {
  for (const name of ['lumen', 'glow']) t.equal(goesBy(open, name), true, name)
  for (const name of ['Lumen', 'lumen-t2i', 'lum', '', '__proto__']) t.equal(goesBy(open, name), false, name)
})

t.test('what is in test exists for testers only', async t => {
  t.equal(visibleTo(secret, false), undefined)
  t.equal(visibleTo(secret, true)?.id, 'umbra')
})

t.test('of a mixed family, others see the public endpoints', async t => {
  t.same(
    visibleTo(mixed, false)?.endpoints.map(({ id }) => id),
    ['nova-t2v'],
  )
  t.same(
    visibleTo(mixed, true)?.endpoints.map(({ id }) => id),
    ['nova-t2v', 'nova-i2v'],
  )
})

t.test('image_url asks for an image-to-* endpoint, whatever it holds', async t => {
  for (const image_url of ['https://example.com/a.png', '', null])
    t.equal(chooseEndpoint(open, { prompt: 'edit', image_url })?.id, 'lumen-i2i')
})

t.test('without image_url a text-to-* endpoint is chosen', async t => {
  t.equal(chooseEndpoint(open, { prompt: 'draw' })?.id, 'lumen-t2i')
  t.equal(chooseEndpoint(open, {})?.id, 'lumen-t2i')
  t.equal(chooseEndpoint(open, Object.create({ image_url: 'inherited' }))?.id, 'lumen-t2i')
})

t.test('a family that lacks what the input asks for has no endpoint for it', async t => {
  t.equal(chooseEndpoint(secret, { image_url: 'https://example.com/a.png' }), undefined)
  t.equal(chooseEndpoint(family('lumen', {}, [endpoint('i2i')]), { prompt: 'draw' }), undefined)
})
