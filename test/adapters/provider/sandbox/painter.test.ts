import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createCanvas, loadImage } from '@napi-rs/canvas'
import t from 'tap'
import type { Picture } from '../../../../src/adapters/provider/sandbox/paint.ts'
import { createPainter } from '../../../../src/adapters/provider/sandbox/painter.ts'
import { type AspectRatio, pictureSize } from '../../../../src/adapters/provider/sandbox/picture-size.ts'
import { drawable } from '../../../../src/adapters/provider/sandbox/text.ts'

const painter = createPainter({ threads: 2 })
t.teardown(() => painter.close())

const small: Picture = { prompt: 'a lake', seed: 1, width: 320, height: 240, format: 'png' }

const ratios = '1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9 1:4 4:1 1:8 8:1'.split(' ') as AspectRatio[]

t.test('a picture of every ratio has the promised size', async t => {
  await Promise.all(
    ratios.map(async (ratio, seed) => {
      const size = pictureSize(ratio, '1K')
      const decoded = await loadImage(await painter.paint({ ...small, ...size, seed }))
      t.same({ width: decoded.width, height: decoded.height }, size, ratio)
    }),
  )
})

t.test('every format is what it says, at higher resolutions too', async t => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    for (const resolution of ['2K', '4K'] as const) {
      const size = pictureSize('1:1', resolution)
      const bytes = await painter.paint({ ...small, ...size, format })
      t.equal(formatOf(bytes), format)
      const decoded = await loadImage(bytes)
      t.same({ width: decoded.width, height: decoded.height }, size, `${format} at ${resolution}`)
    }
  }
})

t.test('the same picture always has the same bytes', async t => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const [one, other] = await Promise.all([painter.paint({ ...small, format }), painter.paint({ ...small, format })])
    t.ok(Buffer.from(one).equals(other), format)
  }
})

t.test('another seed or another prompt gives another picture', async t => {
  const one = await painter.paint(small)
  t.notOk(Buffer.from(one).equals(await painter.paint({ ...small, seed: 2 })))
  t.notOk(Buffer.from(one).equals(await painter.paint({ ...small, prompt: 'a pond' })))
})

t.test('the colours come out as drawn', async t => {
  // A PNG that is encoded wrongly can still have the right size, and JPEG goes through an encoder of its own.
  const [png, jpeg] = await Promise.all([thumbnail('png'), thumbnail('jpeg')])
  const furthest = Math.max(...png.map((value, index) => Math.abs(value - (jpeg[index] ?? 0))))
  t.ok(furthest < 12, `the formats differ by ${furthest} of 255 at most`)
  t.ok(new Set(png).size > 30, 'there is something to see')
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
    for (const ratio of ['1:1', '1:8'] as const) {
      const bytes = await painter.paint({ ...small, ...pictureSize(ratio, '1K'), prompt, format: 'jpeg' })
      t.equal(formatOf(bytes), 'jpeg', `${name}, ${ratio}`)
    }
  }
})

t.test('the caption leaves out what its fonts cannot draw', async t => {
  t.equal(drawable('Żółw, Ёж & Ωδή – “ça va”?'), 'Żółw, Ёж & Ωδή – “ça va”?')
  t.equal(drawable('a 静かな 水面 lake'), 'a … lake')
  t.equal(drawable('sun\u0000rise\n👩‍👩‍👧‍👦 at\t🌅sea '), 'sun rise at sea')
  t.equal(drawable('🏔️'), '')
})

t.test('the event loop turns while a picture is painted', async t => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await painter.paint({ ...small, ...pictureSize('1:1', '2K') })
  clearInterval(timer)
  t.ok(turns >= 5, `it turned ${turns} times`)
})

t.test('an aborted signal rejects', async t => {
  await t.rejects(painter.paint(small, AbortSignal.abort()), { name: 'AbortError' }, 'aborted before')

  const controller = new AbortController()
  const painting = painter.paint({ ...small, ...pictureSize('1:1', '4K') }, controller.signal)
  setTimeout(() => controller.abort(), 50)
  await t.rejects(painting, { name: 'AbortError' }, 'aborted while painting')

  t.equal(formatOf(await painter.paint(small)), 'png', 'and the painter goes on painting')
})

t.test('an abort does not hold up the pictures that wait in the queue', async t => {
  const alone = createPainter({ threads: 1 })
  t.teardown(() => alone.close())
  await alone.paint(small)
  const controller = new AbortController()
  const aborted = t.rejects(alone.paint({ ...small, ...pictureSize('1:1', '4K') }, controller.signal))
  const waiting = alone.paint(small)
  setTimeout(() => controller.abort(), 50)
  await aborted
  t.equal(formatOf(await waiting), 'png')
})

t.test('painting gives its memory back', async t => {
  const large: Picture = { ...small, ...pictureSize('1:1', '2K'), format: 'jpeg' }
  const alone = createPainter({ threads: 1 })
  t.teardown(() => alone.close())
  const memoryAfter = async (pictures: number) => {
    for (let seed = 0; seed < pictures; seed++) await alone.paint({ ...large, seed })
    return process.memoryUsage.rss() / 2 ** 20
  }
  // The first few fill the caches and leave some garbage that is not yet worth collecting.
  const before = await memoryAfter(5)
  const grown = (await memoryAfter(16)) - before
  // If it were kept, each picture would add about 35 MB, most of it the canvases that only help to draw.
  t.ok(grown < 300, `it grew by ${Math.round(grown)} MB`)
})

t.test('closing rejects what is being painted and what is asked for later', async t => {
  const closing = createPainter({ threads: 1 })
  const painting = closing.paint({ ...small, ...pictureSize('1:1', '4K') })
  const rejected = t.rejects(painting)
  await closing.close()
  await rejected
  await t.rejects(closing.paint(small), { message: 'The painter is closed.' })
  await t.resolves(closing.close(), 'closing twice is fine')
  await t.resolves(createPainter({ threads: 1 }).close(), 'and so is closing one that never painted')
})

t.test('a process ends on its own once its painter is closed', async t => {
  const ended = await runProcess(`
    await painter.paint(${JSON.stringify(small)})
    await painter.close()
    process.stdout.write('closed')`)
  t.same(ended, { code: 0, signal: null, output: 'closed' })
})

t.test('a thread that cannot start rejects rather than leave the picture waiting', async t => {
  const failing = 'import { isMainThread } from "node:worker_threads"; if (!isMainThread) throw new Error("no thread")'
  const script = `
    const refusal = (error) => error.message
    const picture = ${JSON.stringify(small)}
    process.stdout.write((await Promise.all([1, 2].map(() => painter.paint(picture).catch(refusal)))).join())
    process.stdout.write(' again: ' + (await painter.paint(picture).catch(refusal)))
    await painter.close()`
  const ended = await runProcess(script, [`--import=data:text/javascript,${encodeURIComponent(failing)}`])
  t.same(ended, { code: 0, signal: null, output: 'no thread,no thread again: no thread' })
})

async function runProcess(script: string, flags: string[] = []) {
  const painterUrl = new URL('../../../../src/adapters/provider/sandbox/painter.ts', import.meta.url).href
  const program = `import(${JSON.stringify(painterUrl)}).then(async ({ createPainter }) => {
    const painter = createPainter({ threads: 1 })
    ${script}
  })`
  const child = spawn(process.execPath, ['--import=tsx', ...flags, '--eval', program], {
    cwd: fileURLToPath(new URL('../../../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
    // Far beyond what it needs, and below the time for which an idle thread is kept.
    timeout: 20_000,
  })
  let output = ''
  child.stdout.on('data', data => {
    output += data
  })
  const [code, signal] = await once(child, 'close')
  return { code, signal, output }
}

function formatOf(bytes: Uint8Array): Picture['format'] | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'webp'
  return undefined
}

async function thumbnail(format: Picture['format']): Promise<number[]> {
  const image = await loadImage(await painter.paint({ ...small, format }))
  const context = createCanvas(16, 12).getContext('2d')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, 0, 0, 16, 12)
  return [...context.getImageData(0, 0, 16, 12).data]
}
