import { fileTypeFromBuffer } from 'file-type'
import t from 'tap'
import { Inspection } from '../../src/services/uploads/inspection.ts'
import { withOrigin } from '../../src/studio/origin-mark.ts'
import { createStudio } from '../../src/studio/studio.ts'
import type { Work } from '../../src/studio/work.ts'
import { pixelsOf } from '../support/pixels.ts'
import { picture, tinySound } from '../support/sample-files.ts'

const TYPE = 'http://cv.iptc.org/newscodes/digitalsourcetype/algorithmicMedia'

t.test('every file of the studio says in its XMP that a program made it', async t => {
  const studio = createStudio({ threads: 2 })
  t.teardown(() => studio.close())
  const small = { prompt: 'a lake', resolution: '1K', duration: 1, text: 'Hi.' }
  const works: [string, Work][] = [
    ...(['png', 'jpeg', 'webp'] as const).map((format): [string, Work] => [
      `image/${format}`,
      { craft: 'picture', seed: 1, input: { ...small, output_format: format } },
    ]),
    ['audio/mpeg', { craft: 'speech', seed: 1, input: { ...small, output_format: 'mp3' } }],
    ['audio/wav', { craft: 'speech', seed: 1, input: { ...small, output_format: 'wav' } }],
    ['video/mp4', { craft: 'film', seed: 1, input: { ...small, resolution: '144p' } }],
  ]
  for (const [mimeType, work] of works) {
    const made = await studio.make(work)
    if ('unusable' in made) return t.fail(made.unusable)
    const file = Buffer.from(made.bytes)
    t.equal((await fileTypeFromBuffer(file))?.mime, mimeType)
    t.ok(file.includes(TYPE), mimeType)
  }
})

t.test('a thumbnail does not say that a program made it, since it may show the result of a model', async t => {
  const studio = createStudio({ threads: 1 })
  t.teardown(() => studio.close())
  const made = await studio.make({ craft: 'thumbnail', seed: 0, input: {}, source: await picture('png') })
  if ('unusable' in made) return t.fail(made.unusable)
  t.notOk(Buffer.from(made.bytes).includes(TYPE))
})

t.test('a marked picture has the same pixels, and its structure holds', async t => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const bytes = await picture(format)
    const marked = Buffer.from(withOrigin({ mimeType: `image/${format}`, bytes }).bytes)
    t.ok(marked.includes(TYPE), format)
    const [before, after] = [await pixelsOf(bytes), await pixelsOf(marked)]
    t.ok(before.equals(after), format)
    const inspection = new Inspection()
    inspection.update(marked)
    t.match(await inspection.result(), { mimeType: `image/${format}`, isCutOff: false, alsoIs: undefined }, format)
    if (format === 'webp') t.equal(marked.readUInt32LE(4) + 8, marked.length)
  }
})

t.test('a marked sound states its length, and a file without a place for the mark stays as it is', t => {
  const marked = Buffer.from(withOrigin({ mimeType: 'audio/wav', bytes: tinySound() }).bytes)
  t.equal(marked.readUInt32LE(4) + 8, marked.length)
  const bytes = Buffer.from('OggS')
  t.equal(withOrigin({ mimeType: 'audio/ogg', bytes }).bytes, bytes)
  t.end()
})
