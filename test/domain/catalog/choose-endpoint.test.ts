import t from 'tap'
import { chooseEndpoint } from '../../../src/domain/catalog/inputs.ts'
import { endpoint, family } from '../../support/catalog-samples.ts'

const open = family('lumen', { aliases: ['glow'] }, [endpoint('t2i'), endpoint('i2i')])
const secret = family('umbra', { aliases: ['shade'] }, [endpoint('t2i', { status: 'test' })])

t.test('any image_url selects an image-to-* endpoint', async t => {
  for (const image_url of ['https://example.com/a.png', '', null])
    t.equal(chooseEndpoint(open, 'lumen', { prompt: 'edit', image_url })?.id, 'lumen-i2i')
})

t.test('an input without image_url selects a text-to-* endpoint', async t => {
  t.equal(chooseEndpoint(open, 'lumen', { prompt: 'draw' })?.id, 'lumen-t2i')
  t.equal(chooseEndpoint(open, 'lumen', {})?.id, 'lumen-t2i')
  t.equal(chooseEndpoint(open, 'lumen', Object.create({ image_url: 'inherited' }))?.id, 'lumen-t2i')
})

t.test('a video_url selects a video-to-* endpoint, also beside an image_url', async t => {
  const films = family('lumen', {}, [endpoint('t2v'), endpoint('i2v'), endpoint('v2v')])
  const video_url = 'https://example.com/a.mp4'
  t.equal(chooseEndpoint(films, 'lumen', { prompt: 'go on', video_url })?.id, 'lumen-v2v')
  t.equal(chooseEndpoint(films, 'lumen', { prompt: 'go on', video_url, image_url: 'x' })?.id, 'lumen-v2v')
  t.equal(chooseEndpoint(open, 'lumen', { prompt: 'go on', video_url }), undefined)
})

t.test('the id of an endpoint selects it, whatever the input', async t => {
  for (const input of [{}, { image_url: 'https://example.com/a.png' }])
    for (const id of ['lumen-t2i', 'lumen-i2i']) t.equal(chooseEndpoint(open, id, input)?.id, id)
})

t.test('a family without the matching kind of endpoint has none for the input', async t => {
  t.equal(chooseEndpoint(secret, 'umbra', { image_url: 'https://example.com/a.png' }), undefined)
  t.equal(chooseEndpoint(family('lumen', {}, [endpoint('i2i')]), 'lumen', { prompt: 'draw' }), undefined)
})
