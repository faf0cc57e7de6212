import t from 'tap'
import { shipped } from '../../../src/catalog/shipped.ts'
import { filmSize, stillSize } from '../../../src/studio/picture/frame-size.ts'

const size = (width: number, height: number) => ({ width, height })

t.test('a picture has the size in its input, in any form', async t => {
  t.same(stillSize({ prompt: 'a cat' }), size(1024, 1024), 'no size')
  t.same(stillSize({ width: 640, height: 480, aspect_ratio: '1:1' }), size(640, 480), 'pixels')
  t.same(stillSize({ size: '1536x1024' }), size(1536, 1024))
  t.same(stillSize({ image_size: '1024x1536' }), size(1024, 1536))
  t.same(stillSize({ resolution: '2K', aspect_ratio: '16:9' }), size(2752, 1536), 'as documented')
  t.same(stillSize({ resolution: '1 MP', aspect_ratio: '1:1' }), size(1008, 1008))
  t.same(stillSize({ resolution: '0.5 MP', aspect_ratio: '16:9' }), size(944, 528))
  t.same(stillSize({ aspect_ratio: '9:21' }), size(672, 1568), 'an undocumented ratio')
})

t.test('the prompt chooses the ratio only if the input leaves it open', async t => {
  t.same(stillSize({ prompt: 'a banner', aspect_ratio: 'auto', resolution: '1K' }), size(2048, 512))
  t.same(stillSize({ prompt: 'a portrait', size: 'auto' }), size(896, 1200))
  t.same(stillSize({ prompt: 'a banner' }), size(1024, 1024))
})

t.test('a picture keeps the ratio of its source, unless the input has one', async t => {
  const source = size(3000, 2000)
  for (const aspect_ratio of ['auto', 'match_input_image', undefined])
    t.same(stillSize({ prompt: 'a banner', aspect_ratio }, source), size(1248, 832), String(aspect_ratio))
  t.same(stillSize({ size: 'auto' }, source), size(1248, 832))
  t.same(stillSize({ aspect_ratio: '1:1' }, source), size(1024, 1024))
  t.same(stillSize({}, size(5000, 1)), size(2896, 368), 'an extreme strip is limited')
})

t.test('a film has even sides, and the resolution is the shorter one', async t => {
  t.same(filmSize({}), size(1280, 720), 'no size')
  t.same(filmSize({ resolution: '480p', aspect_ratio: '16:9' }), size(854, 480))
  t.same(filmSize({ resolution: '1080p', aspect_ratio: '9:16' }), size(1080, 1920))
  t.same(filmSize({ resolution: '4K' }), size(3840, 2160))
  t.same(filmSize({ resolution: '2160p', aspect_ratio: '1:1' }), size(2160, 2160))
  t.same(filmSize({ size: '1792x1024' }), size(1792, 1024))
  t.same(filmSize({ resolution: '768p' }, size(1000, 2000)), size(768, 1536), 'the ratio of the source')
  t.same(filmSize({ resolution: '720p', aspect_ratio: '4:3' }, size(1000, 2000)), size(960, 720))
})

t.test('no film exceeds the limit of decoders', async t => {
  const { width, height } = filmSize({ resolution: '2160p', aspect_ratio: '21:9' })
  t.ok(width * height <= 36_864 * 256 * 1.01)
  t.ok(Math.abs(width / height - 21 / 9) < 0.01, 'and it keeps its ratio')
})

t.test('every choice in the catalog changes the size, or leaves it open', async t => {
  const sizing = ['resolution', 'aspect_ratio', 'size', 'image_size']
  for (const endpoint of shipped.flatMap(family => family.endpoints)) {
    const { properties } = endpoint.parametersSchema
    const isFilm = endpoint.kind.endsWith('2v')
    if (!isFilm && !endpoint.kind.endsWith('2i')) continue
    for (const name of sizing) {
      const values = (properties[name]?.['enum'] ?? []) as string[]
      const named = values.filter(value => /\d/.test(value))
      const sizes = named.map(value => (isFilm ? filmSize({ [name]: value }) : stillSize({ [name]: value })))
      const distinct = new Set(sizes.map(({ width, height }) => `${width}x${height}`))
      t.equal(distinct.size, named.length, `${endpoint.id}: ${name} ${named}`)
    }
  }
})
