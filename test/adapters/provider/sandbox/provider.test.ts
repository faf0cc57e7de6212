import { createCanvas, loadImage } from '@napi-rs/canvas'
import t from 'tap'
import { systemClock } from '../../../../src/adapters/clock/system.ts'
import { produce } from '../../../../src/adapters/provider/sandbox/production.ts'
import { createSandboxProvider } from '../../../../src/adapters/provider/sandbox/provider.ts'
import { type InputMedia, InputMediaError, type UseInputMedia } from '../../../../src/ports/input-media.ts'
import type { Done, Job, Media, ProviderOutcome, Submitted, Working } from '../../../../src/ports/provider.ts'
import { createStudio } from '../../../../src/studio/studio.ts'
import { accountId, runId } from '../../../support/account-samples.ts'
import { submittedJob } from '../../../support/submitted-job.ts'
import { until } from '../../../support/until.ts'
import { openFile } from '../../../support/vendors/arriving-file.ts'

const picture = await createCanvas(200, 100).encode('png')
const load = async (url: string): Promise<InputMedia> => {
  if (url === 'http://example.com/picture') return { mimeType: 'image/png', bytes: picture }
  if (url === 'http://example.com/text') return { mimeType: 'text/plain', bytes: Buffer.from('hello') }
  if (url === 'http://example.com/broken') throw new Error('the store is broken')
  throw new InputMediaError('There is nothing at that address.')
}
const useInputMedia: UseInputMedia = async ({ url }, _, use) => use(copyOf(await load(url)))

/** The work may give the bytes away. */
const copyOf = ({ mimeType, bytes }: InputMedia): InputMedia => ({ mimeType, bytes: Uint8Array.from(bytes) })

const open = (threads = 2) => {
  const provider = createSandboxProvider({ useInputMedia, clock: { ...systemClock, nowMs: () => 0 }, threads })
  t.teardown(() => provider.close?.())
  return provider
}
const provider = open()
const { signal } = new AbortController()

const job = (run: number, endpoint: string, input: Record<string, unknown>): Job => ({
  runId: runId(run),
  accountId: accountId(),
  endpoint,
  input,
  upstream: { model: endpoint, operation: '', parameters: {} },
  openFile,
})
const submit = (request: Job, at = provider) => at.submit(request, signal)
const poll = async (request: Job, at = provider): Promise<ProviderOutcome | Working> => {
  const answer = await at.poll?.(submittedJob(request), signal)
  if (!answer) throw new Error('the sandbox must have jobs')
  return answer
}

/** Polls a job until it has ended. */
async function end(request: Job, at = provider): Promise<{ outcome: ProviderOutcome; progress: number[] }> {
  const progress: number[] = []
  const outcome = await until('the job has ended', async () => {
    const answer = await poll(request, at)
    if (answer.kind !== 'working') return answer
    progress.push(answer.progress ?? -1)
    return undefined
  })
  return { outcome, progress }
}

const bytesOf = (media?: Media) => Buffer.from(media && 'bytes' in media ? media.bytes : [])

const film = { prompt: 'a lake', resolution: '144p', aspect_ratio: '1:1', duration: 2, seed: 1 }
const small = { prompt: 'a lake', width: 64, height: 48, output_format: 'jpeg' }

t.test('the requested number of different pictures is returned at once', async t => {
  const { media } = (await submit(job(1, 'any-t2i', { ...small, num_images: 3 }))) as Done
  t.same(
    media.map(({ mimeType }) => mimeType),
    ['image/jpeg', 'image/jpeg', 'image/jpeg'],
  )
  t.equal(new Set(media.map(one => bytesOf(one).toString('hex'))).size, 3)
  const { width, height } = await loadImage(bytesOf(media[0]))
  t.same([width, height], [64, 48])
})

t.test('a picture comes with thoughts if the input asks for them', async t => {
  const textOf = async (input: object) => ((await submit(job(1, 'any-t2i', { ...small, ...input }))) as Done).text
  t.equal(await textOf({}), undefined)
  const little = await textOf({ thinking_level: 'minimal', seed: 1 })
  const much = await textOf({ thinking_level: 'high', seed: 1 })
  for (const text of [little, much]) t.match(text, '“a lake”')
  t.ok(Number(much?.length) > Number(little?.length))
  t.equal(await textOf({ thinking_level: 'high', seed: 1 }), much)
})

t.test('without a seed the run id decides, deterministically', async t => {
  const of = async (run: number) => bytesOf(((await submit(job(run, 'any-t2i', small))) as Done).media[0])
  const one = await of(1)
  t.ok(one.equals(await of(1)))
  t.notOk(one.equals(await of(2)))
})

t.test('text arrives a few words at a time, and is the same text', async t => {
  const request = job(3, 'any-t2t', { prompt: 'Hello, how are you?', max_output_tokens: 1024 })
  const whole = (await submit(request)) as Done
  const pieces: string[] = []
  const startMs = performance.now()
  t.same(await submit({ ...request, onText: text => pieces.push(text) }), whole)
  t.ok(performance.now() - startMs > pieces.length * 20, 'it takes some time')
  t.equal(pieces.join(''), whole.text)
  t.ok(pieces.length > 5 && pieces.every(piece => piece.trim().split(/\s+/).length <= 3))
  const { input_tokens: read = 0, output_tokens: written } = whole.work?.units ?? {}
  t.ok(read > 0)
  t.equal(written, Math.ceil(Buffer.byteLength(whole.text ?? '') / 4))
})

t.test('text that is longer than allowed says so', async t => {
  const outcome = (max_output_tokens: number) => submit(job(3, 'any-t2t', { prompt: 'Hello', max_output_tokens }))
  t.match(await outcome(16), { finish: 'length' })
  t.notOk('finish' in (await outcome(1024)))
})

t.test('text that nobody waits for any more ends', async t => {
  const stop = new AbortController()
  const pieces: string[] = []
  const request = job(3, 'any-t2t', { prompt: 'Hello' })
  const onText = (text: string) => {
    pieces.push(text)
    stop.abort()
  }
  await t.rejects(async () => provider.submit({ ...request, onText }, stop.signal), { name: 'AbortError' })
  t.equal(pieces.length, 1)
})

t.test('text, speech and repainted pictures are returned at once too', async t => {
  t.match(await submit(job(3, 'any-t2t', { prompt: 'Hello' })), { kind: 'done', media: [], text: '“Hello”' })
  t.match(await submit(job(4, 'any-t2a', { text: 'Hello' })), { kind: 'done', media: [{ mimeType: 'audio/ogg' }] })
  const repaint = { prompt: 'night', image_url: 'http://example.com/picture', aspect_ratio: 'auto', resolution: '1K' }
  const { media } = (await submit(job(5, 'any-i2i', repaint))) as Done
  const { width, height } = await loadImage(bytesOf(media[0]))
  t.equal(Math.round((10 * width) / height), 20, 'with the aspect ratio of the source')
})

t.test('films and music are jobs with progress', async t => {
  const request = job(6, 'any-t2v', { ...film, duration: 6 })
  t.match(await submit(request), { kind: 'submitted', jobId: String, pollAfterMs: Number })
  const { outcome, progress } = await end(request)
  t.match(outcome, { kind: 'done', media: [{ mimeType: 'video/mp4' }] })
  t.same(
    progress,
    [...progress].sort((one, other) => one - other),
    'it only rises',
  )
  t.ok(new Set(progress).size > 2 && progress.every(value => value >= 0 && value <= 1), `${progress}`)

  const music = job(7, 'any-t2a', { prompt: 'calm', duration: 1, output_format: 'wav' })
  t.match(await submit(music), { kind: 'submitted' })
  t.match((await end(music)).outcome, { kind: 'done', media: [{ mimeType: 'audio/wav' }] })
})

t.test('the same run gets the same job, which runs once', async t => {
  const loads: string[] = []
  const counting = createSandboxProvider({
    clock: { ...systemClock, nowMs: () => 0 },
    useInputMedia: ({ url }, _, use) => {
      loads.push(url)
      return use(copyOf({ mimeType: 'image/png', bytes: picture }))
    },
  })
  t.teardown(() => counting.close?.())
  const request = job(8, 'any-i2v', { ...film, image_url: 'http://example.com/picture' })
  const answers = (await Promise.all([1, 2, 3].map(() => submit(request, counting)))) as Submitted[]
  t.equal(new Set(answers.map(({ jobId }) => jobId)).size, 1)
  t.match((await end(request, counting)).outcome, { kind: 'done' })
  t.equal(loads.length, 1)
})

t.test('a job that is lost in a restart gives the same bytes', async t => {
  const request = job(9, 'any-t2v', { ...film, seed: undefined })
  await submit(request)
  const before = (await end(request)).outcome as Done
  const after = (await end(request, open())).outcome as Done
  t.ok(bytesOf(before.media[0]).length > 1000)
  t.ok(bytesOf(before.media[0]).equals(bytesOf(after.media[0])))
})

t.test('cancelling frees the thread for the next job', async t => {
  const alone = open(1)
  const long = job(10, 'any-t2v', { ...film, resolution: '720p', duration: 120 })
  await submit(long, alone)
  const next = job(11, 'any-t2v', film)
  await submit(next, alone)
  t.match(await poll(next, alone), { kind: 'working', progress: 0 }, 'it waits')
  await alone.cancel?.(submittedJob(long), signal)
  t.match((await end(next, alone)).outcome, { kind: 'done' })
})

t.test('an unusable image_url is the client’s mistake', async t => {
  const asking = (kind: string, address: string) => job(20, `any-${kind}`, { ...film, image_url: address })
  const nothing = { kind: 'failed', code: 'invalid_input', message: 'image_url: There is nothing at that address.' }
  t.same(await submit(asking('i2i', 'http://example.com/nothing')), nothing)
  t.match(await submit(asking('i2i', 'http://example.com/text')), { kind: 'failed', code: 'invalid_input' })
  for (const [address, message] of [
    ['http://example.com/nothing', 'There is nothing'],
    ['http://example.com/text', 'not a PNG'],
  ] as const) {
    await submit(asking('i2v', address))
    t.match((await end(asking('i2v', address))).outcome, { kind: 'failed', code: 'invalid_input', message })
  }
})

t.test('a video is checked, and a last frame too', async t => {
  const request = (kind: string, files: object) => job(22, `any-${kind}`, { ...film, ...files })
  const asked: string[] = []
  const at = createSandboxProvider({
    clock: { ...systemClock, nowMs: () => 0 },
    useInputMedia: async ({ url, parameter, further = [] }, _, use) => {
      asked.push(...[{ url, parameter }, ...further].map(file => `${file.parameter} ${file.url}`))
      return use({ mimeType: 'image/png', bytes: Uint8Array.from(picture) })
    },
  })
  t.teardown(() => at.close?.())
  const made = async (wanted: Job) => {
    await submit(wanted, at)
    return (await end(wanted, at)).outcome
  }
  const [video_url, image_url] = ['http://example.com/video', 'http://example.com/picture']
  const done = { kind: 'done', media: [{ mimeType: 'video/mp4' }] }
  t.match(await made(request('v2v', { video_url })), done)
  t.match(await made(request('i2v', { image_url, end_image_url: image_url })), done)
  t.same(asked, [`video_url ${video_url}`, `image_url ${image_url}`, `end_image_url ${image_url}`])
})

t.test('a source moves into the thread that needs it last', async t => {
  const studio = createStudio({ threads: 1 })
  t.teardown(() => studio.close())
  const bytes = Uint8Array.from(picture)
  const lengths: number[] = []
  const observed: typeof studio = {
    ...studio,
    make: (work, ...others) => {
      lengths.push(bytes.byteLength)
      return studio.make(work, ...others)
    },
  }
  const useOnce: UseInputMedia = (_, __, use) => use({ mimeType: 'image/png', bytes })
  const request = job(20, 'x-i2i', { ...film, image_url: 'http://example.com/picture', num_images: 2 })
  t.match(await produce({ studio: observed, useInputMedia: useOnce, clock: systemClock }, request, signal), {
    kind: 'done',
    media: [{}, {}],
  })
  t.same(lengths, [picture.byteLength, picture.byteLength])
  t.equal(bytes.byteLength, 0)
})

t.test('work that takes too much is not worth a retry', async t => {
  const studio = createStudio({ threads: 1, heapMb: 32, timeLimitMs: craft => (craft === 'film' ? 0 : 60_000) })
  t.teardown(() => studio.close())
  const outcome = (endpoint: string, input: Job['input']) =>
    produce({ studio, useInputMedia, clock: systemClock }, job(20, endpoint, input), signal)
  const text = 'la '.repeat(1_000_000)
  const [speech, repaint, film] = [
    await outcome('x-t2a', { text }),
    await outcome('x-i2i', { prompt: text, image_url: 'http://example.com/picture' }),
    await outcome('x-t2v', { prompt: 'a lake', duration: 120 }),
  ]
  t.same(speech, { kind: 'failed', code: 'provider_error', message: 'The sandbox needs too much memory for this.' })
  t.match(repaint, { kind: 'failed', code: 'invalid_input', message: /image_url takes too much memory; save it again/ })
  t.same(film, { kind: 'failed', code: 'provider_timeout', message: 'The sandbox needs too much time for this.' })
  t.notOk([speech, repaint, film].some(failed => 'retryable' in failed))
})

t.test('a failure to load the input is not the client’s mistake', async t => {
  const request = (kind: string) => job(21, `any-${kind}`, { ...film, image_url: 'http://example.com/broken' })
  await t.rejects(submit(request('i2i')), { message: 'the store is broken' })
  await submit(request('i2v'))
  t.match((await end(request('i2v'))).outcome, { kind: 'failed', code: 'provider_error' })
})

t.test('polling a cancelled film does not restart it', async t => {
  const request = job(23, 'any-t2v', { ...film, duration: 60 })
  await submit(request)
  await provider.cancel?.(submittedJob(request), signal)
  t.match(await poll(request), { kind: 'failed', code: 'cancelled' })
})

t.test('an aborted signal ends the work', async t => {
  const controller = new AbortController()
  const request = job(22, 'any-t2i', { prompt: 'a lake', width: 4096, height: 4096 })
  const painting = t.rejects(provider.submit(request, controller.signal), { name: 'AbortError' })
  setTimeout(() => controller.abort(), 50)
  await painting
})
