import { deflateSync } from 'node:zlib'
import { type Canvas, createCanvas, loadImage } from '@napi-rs/canvas'
import t from 'tap'
import { isUnusable } from '../../../src/studio/work.ts'
import { openStudio } from '../../adapters/provider/sandbox/support.ts'

const { studio, make } = openStudio(t.teardown)

const input = { prompt: 'x', output_format: 'png' }

/** Red above blue on its left, white above green on its right. */
const quarters = (width = 300, height = 200): Canvas => {
  const canvas = createCanvas(width, height)
  const context = canvas.getContext('2d')
  ;['#cc2020', '#f0f0f0', '#2030cc', '#20aa30'].forEach((colour, index) => {
    context.fillStyle = colour
    context.fillRect(((index % 2) * width) / 2, (Math.floor(index / 2) * height) / 2, width / 2, height / 2)
  })
  return canvas
}

const png = await quarters().encode('png')
const repaint = (source: Uint8Array, more = {}, seed = 1) =>
  make({ craft: 'repaint', seed, source, input: { ...input, ...more } })

/** The average colours of the quarters, without the captioned corner. */
async function averages(bytes: Uint8Array): Promise<number[][]> {
  const image = await loadImage(bytes)
  const context = createCanvas(4, 4).getContext('2d')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, 0, 0, 4, 4)
  return [
    [0, 0],
    [3, 0],
    [1, 2],
    [3, 3],
  ].map(([x = 0, y = 0]) => [...context.getImageData(x, y, 1, 1).data.subarray(0, 3)])
}

t.test('a repainted picture resembles its source', async t => {
  const { bytes, mimeType } = await repaint(png)
  const [red, white, blue, green] = await averages(bytes)
  const reddest = ([r = 0, g = 0, b = 0]: number[] = []) => r > g + 40 && r > b + 40
  t.equal(mimeType, 'image/png')
  t.ok(reddest(red), `red ${red}`)
  t.ok((blue?.[2] ?? 0) > (blue?.[0] ?? 0) + 20, `blue ${blue}`)
  t.ok((green?.[1] ?? 0) > (green?.[0] ?? 0) + 20, `green ${green}`)
  t.ok((white?.[1] ?? 0) > (red?.[1] ?? 0) + 60, `white ${white}`)
  t.notOk(Buffer.from(bytes).equals(png), 'it differs from the source')
})

t.test('it has brush strokes', async t => {
  const image = await loadImage((await repaint(png)).bytes)
  const context = createCanvas(image.width, image.height).getContext('2d')
  context.drawImage(image, 0, 0)
  // The border of red and white is a straight line in the source, but not after a brush has passed.
  const borders = Array.from({ length: 200 }, (_, row) => {
    const greens = context.getImageData(0, row + 100, image.width, 1).data.filter((_, at) => at % 4 === 1)
    return greens.findIndex((green, x) => x > image.width / 3 && green > 128)
  })
  t.ok(new Set(borders).size > 4, `the border is at ${[...new Set(borders)]}`)
})

t.test('it has the ratio of its source; seed and prompt decide the rest', async t => {
  const one = await repaint(png)
  const { width, height } = await loadImage(one.bytes)
  t.same({ width, height }, { width: 1248, height: 832 })
  t.ok(Buffer.from(one.bytes).equals((await repaint(png)).bytes), 'the same again')
  t.notOk(Buffer.from(one.bytes).equals((await repaint(png, {}, 2)).bytes), 'another seed')
  t.notOk(Buffer.from(one.bytes).equals((await repaint(png, { prompt: 'night' })).bytes), 'another prompt')
})

t.test('every source format can be read', async t => {
  const sources = {
    jpeg: await quarters().encode('jpeg'),
    webp: await quarters().encode('webp'),
    avif: await quarters().encode('avif'),
    gif: await quarters().encode('gif'),
  }
  for (const [format, source] of Object.entries(sources)) {
    const [red, , blue] = await averages((await repaint(source, { output_format: 'webp' })).bytes)
    t.ok((red?.[0] ?? 0) > (blue?.[0] ?? 0) + 60, `${format}: ${red} and ${blue}`)
  }
})

t.test('unusable sources are reported to the client', async t => {
  const refused = async (source: Uint8Array) => {
    const result = await studio.make({ craft: 'repaint', seed: 1, source, input })
    return isUnusable(result) ? result.unusable : 'taken'
  }
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="/etc/hostname"/></svg>'
  t.match(await refused(Buffer.from(svg)), 'not a PNG', 'SVG, which can load files')
  t.match(await refused(Buffer.from('hello')), 'not a PNG')
  t.match(await refused(new Uint8Array()), 'not a PNG')
  t.match(await refused(png.subarray(0, 60)), 'damaged')
  t.match(await refused(bomb(60_000, 60_000)), '3600 megapixels')
})

/** A small file that claims to hold a large picture. */
function bomb(width: number, height: number): Uint8Array {
  const header = Buffer.from(png)
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return Buffer.concat([header, deflateSync(Buffer.alloc(1000))])
}
