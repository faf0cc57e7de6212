import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { pictureSize } from '../../src/studio/picture/picture-size.ts'
import { createStudio } from '../../src/studio/studio.ts'
import type { Work } from '../../src/studio/work.ts'
import { formatOf, openStudio, paintIn, small, toPaint } from '../adapters/provider/sandbox/support.ts'
import { toRun } from '../support/program.ts'
import { until } from '../support/until.ts'

const { paint } = openStudio(t.teardown)

/** Minutes of work. */
const longFilm: Work = { craft: 'film', seed: 1, input: { prompt: 'a lake', resolution: '720p', duration: 120 } }

t.test('the event loop keeps turning while a picture is painted', async t => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await paint({ ...small, ...pictureSize('1:1', '2K') })
  clearInterval(timer)
  t.ok(turns >= 5, `it turned ${turns} times`)
})

t.test('an aborted signal rejects', async t => {
  await t.rejects(paint(small, AbortSignal.abort()), { name: 'AbortError' }, 'aborted before')

  const controller = new AbortController()
  const painting = paint({ ...small, ...pictureSize('1:1', '4K') }, controller.signal)
  setTimeout(() => controller.abort(), 50)
  await t.rejects(painting, { name: 'AbortError' }, 'aborted while painting')

  t.equal(formatOf(await paint(small)), 'png', 'the studio continues painting')
})

t.test('an abort does not block queued pictures', async t => {
  const alone = createStudio({ threads: 1 })
  t.teardown(() => alone.close())
  await paintIn(alone, small)
  const controller = new AbortController()
  const aborted = t.rejects(paintIn(alone, { ...small, ...pictureSize('1:1', '4K') }, controller.signal))
  const waiting = paintIn(alone, small)
  setTimeout(() => controller.abort(), 50)
  await aborted
  t.equal(formatOf(await waiting), 'png')
})

t.test('a picture does not wait for films', async t => {
  const pair = createStudio({ threads: 2 })
  t.teardown(() => pair.close())
  const progress = new Float32Array(new SharedArrayBuffer(4))
  const films = Promise.allSettled([1, 2, 3].map(seed => pair.make({ ...longFilm, seed, progress })))
  await until('the work has begun', () => progress[0])
  const first = await Promise.race([paintIn(pair, small).then(() => 'the picture'), films.then(() => 'the films')])
  t.equal(first, 'the picture')
  await pair.close()
  t.ok(
    (await films).every(film => film.status === 'rejected'),
    'closing ends the films',
  )
})

t.test('customers take turns', async t => {
  const alone = createStudio({ threads: 1 })
  t.teardown(() => alone.close())
  const done: string[] = []
  const paint = (customer: string) => alone.make(toPaint(small), undefined, customer).then(() => done.push(customer))
  await Promise.all(['ada', 'ada', 'ada', 'ada', 'bob', 'bob'].map(paint))
  t.same(done, ['ada', 'ada', 'bob', 'ada', 'bob', 'ada'])
})

t.test('an aborted film frees its thread', async t => {
  const alone = createStudio({ threads: 1 })
  t.teardown(() => alone.close())
  const controller = new AbortController()
  const progress = new Float32Array(new SharedArrayBuffer(4))
  const film = t.rejects(alone.make({ ...longFilm, progress }, controller.signal), { name: 'AbortError' })
  await until('the work has begun', () => progress[0])
  controller.abort()
  await film
  t.equal(formatOf(await paintIn(alone, small)), 'png')
  const reached = progress[0]
  await paintIn(alone, small)
  t.equal(progress[0], reached, 'the work has stopped')
})

t.test('work that takes too much memory or time ends, and the studio goes on', async t => {
  const tight = createStudio({ threads: 1, heapMb: 32, timeLimitMs: craft => (craft === 'film' ? 500 : 60_000) })
  t.teardown(() => tight.close())
  const endless: Work = { craft: 'speech', seed: 1, input: { text: 'la '.repeat(1_000_000) } }
  await t.rejects(tight.make(endless), { name: 'Overrun', of: 'memory' })
  await t.rejects(tight.make(longFilm), { name: 'Overrun', of: 'time' })
  t.equal(formatOf(await paintIn(tight, small)), 'png')
})

t.test('closing rejects running and later work', async t => {
  const closing = createStudio({ threads: 1 })
  const painting = paintIn(closing, { ...small, ...pictureSize('1:1', '4K') })
  const rejected = t.rejects(painting)
  await closing.close()
  await rejected
  await t.rejects(paintIn(closing, small), { message: 'the studio is closed' })
  await t.resolves(closing.close(), 'closing twice')
  await t.resolves(createStudio({ threads: 1 }).close(), 'closing an unused studio')
})

t.test('a process exits on its own once its studio is closed', async t => {
  const ended = await runProcess(`
    await studio.make(${JSON.stringify(toPaint(small))})
    await studio.close()
    process.stdout.write('closed')`)
  t.same(ended, { code: 0, signal: null, output: 'closed' })
})

t.test('a thread that fails to start rejects the work instead of blocking it', async t => {
  const failing = 'import { isMainThread } from "node:worker_threads"; if (!isMainThread) throw new Error("no thread")'
  const script = `
    const refusal = (error) => error.message
    const picture = ${JSON.stringify(toPaint(small))}
    process.stdout.write((await Promise.all([1, 2].map(() => studio.make(picture).catch(refusal)))).join())
    process.stdout.write(' again: ' + (await studio.make(picture).catch(refusal)))
    await studio.close()`
  const ended = await runProcess(script, [`--import=data:text/javascript,${encodeURIComponent(failing)}`])
  t.same(ended, { code: 0, signal: null, output: 'no thread,no thread again: no thread' })
})

async function runProcess(script: string, flags: string[] = []) {
  const [program = '', ...args] = toRun('src/studio/studio.ts')
  const studioUrl = pathToFileURL(resolve(args.pop() as string)).href
  const main = `import(${JSON.stringify(studioUrl)}).then(async ({ createStudio }) => {
    const studio = createStudio({ threads: 1 })
    ${script}
  })`
  const child = spawn(program, [...args, ...flags, '--eval', main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Far longer than needed, and shorter than the idle timeout of threads.
    timeout: 20_000,
  })
  let output = ''
  child.stdout.on('data', data => {
    output += data
  })
  const [code, signal] = await once(child, 'close')
  return { code, signal, output }
}
