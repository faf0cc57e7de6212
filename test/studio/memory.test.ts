import t from 'tap'
import { pictureSize } from '../../src/studio/picture/picture-size.ts'
import { createStudio } from '../../src/studio/studio.ts'
import { type Picture, paintIn, small } from '../adapters/provider/sandbox/support.ts'

t.test('painting frees its memory', async t => {
  const large: Picture = { ...small, ...pictureSize('1:1', '2K'), format: 'jpeg' }
  const alone = createStudio({ threads: 1 })
  t.teardown(() => alone.close())
  const memoryAfter = async (pictures: number) => {
    for (let seed = 0; seed < pictures; seed++) await paintIn(alone, { ...large, seed })
    return process.memoryUsage.rss() / 2 ** 20
  }
  // The first few pictures fill caches, and leave garbage that is not yet worth collecting.
  const before = await memoryAfter(5)
  await memoryAfter(6)
  // A leak would add about 35 MB per picture, mostly for temporary canvases. A busy machine collects garbage late, so
  // the lowest of several samples counts.
  let grown = Number.POSITIVE_INFINITY
  for (let look = 0; look < 6 && grown >= 300; look++) grown = Math.min(grown, (await memoryAfter(6)) - before)
  t.ok(grown < 300, `it grew by ${Math.round(grown)} MB`)
})
