import { createCanvas, loadImage } from '@napi-rs/canvas'
import t from 'tap'
import { type AspectRatio, pictureSize } from '../../../src/studio/picture/picture-size.ts'
import { drawable } from '../../../src/studio/picture/text.ts'
import { formatOf, openStudio, type Picture, small } from '../../adapters/provider/sandbox/support.ts'
import { isLong } from '../../support/test-length.ts'

const { paint } = openStudio(t.teardown)

const ratios = (isLong ? '1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9 1:4 4:1 1:8 8:1' : '3:2 21:9 1:8').split(
  ' ',
) as AspectRatio[]

t.test('a picture of every ratio has the promised size', async t => {
  await Promise.all(
    ratios.map(async (ratio, seed) => {
      const size = pictureSize(ratio, '1K')
      const decoded = await loadImage(await paint({ ...small, ...size, seed }))
      t.same({ width: decoded.width, height: decoded.height }, size, ratio)
    }),
  )
})

t.test('every format is encoded as declared, at higher resolutions too', async t => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    for (const resolution of isLong ? (['2K', '4K'] as const) : (['2K'] as const)) {
      const size = pictureSize('1:1', resolution)
      const bytes = await paint({ ...small, ...size, format })
      t.equal(formatOf(bytes), format)
      const decoded = await loadImage(bytes)
      t.same({ width: decoded.width, height: decoded.height }, size, `${format} at ${resolution}`)
    }
  }
})

t.test('the same picture always has the same bytes', async t => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const [one, other] = await Promise.all([paint({ ...small, format }), paint({ ...small, format })])
    t.ok(Buffer.from(one).equals(other), format)
  }
})

t.test('another seed or another prompt gives another picture', async t => {
  const one = await paint(small)
  t.notOk(Buffer.from(one).equals(await paint({ ...small, seed: 2 })))
  t.notOk(Buffer.from(one).equals(await paint({ ...small, prompt: 'a pond' })))
})

t.test('the colours are as drawn', async t => {
  // A wrongly encoded PNG can still have the right size, so it is compared with a JPEG from another encoder.
  const [png, jpeg] = await Promise.all([thumbnail('png'), thumbnail('jpeg')])
  const furthest = Math.max(...png.map((value, index) => Math.abs(value - (jpeg[index] ?? 0))))
  t.ok(furthest < 12, `the formats differ by at most ${furthest} of 255`)
  t.ok(new Set(png).size > 30, 'the picture is not blank')
})

t.test('any prompt can be painted', async t => {
  const prompts = {
    empty: '',
    blank: ' \n\t ',
    long: 'a very detailed view of '.repeat(84),
    'one long word': 'x'.repeat(2000),
    emoji: '👩‍👩‍👧‍👦🏔️🌅',
    cjk: '山の湖と朝の光、静かな水面',
    'right to left': 'بحيرة جبلية עם הרים',
    combining: 'a\u0301\u0301\u0301\u0301 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L',
    'lone surrogates': '\ud800 lake \udc00',
    control: 'a\u0000b\u200fc\u202ed',
  }
  for (const [name, prompt] of Object.entries(prompts)) {
    for (const ratio of isLong ? (['1:1', '1:8'] as const) : (['1:8'] as const)) {
      const bytes = await paint({ ...small, ...pictureSize(ratio, '1K'), prompt, format: 'jpeg' })
      t.equal(formatOf(bytes), 'jpeg', `${name}, ${ratio}`)
    }
  }
})

t.test('the caption omits characters that its fonts lack', async t => {
  t.equal(drawable('Żółw, Ёж & Ωδή – “ça va”?'), 'Żółw, Ёж & Ωδή – “ça va”?')
  t.equal(drawable('a 静かな 水面 lake'), 'a … lake')
  t.equal(drawable('sun\u0000rise\n👩‍👩‍👧‍👦 at\t🌅sea '), 'sun rise at sea')
  t.equal(drawable('🏔️'), '')
})

async function thumbnail(format: Picture['format']): Promise<number[]> {
  const image = await loadImage(await paint({ ...small, format }))
  const context = createCanvas(16, 12).getContext('2d')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, 0, 0, 16, 12)
  return [...context.getImageData(0, 0, 16, 12).data]
}
