import { loadImage } from '@napi-rs/canvas'
import { createFile, MP4BoxBuffer } from 'mp4box'
import t, { type Test } from 'tap'
import type { Run } from '../../schemas/api/run.ts'
import type { Endpoint } from '../../schemas/catalog.ts'
import { shipped } from '../../src/catalog/shipped.ts'
import { compileFillingCheck } from '../../src/services/schema-check.ts'
import { mp3Frames } from '../support/mp3.ts'
import { openAccount, startService } from '../support/service.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

t.setTimeout(900_000)

type Input = Record<string, unknown>

const service = await startService(t)
const customer = await openAccount(service, { credits: 100_000, tester: true })

/** The run after its end, however long a busy machine takes. */
const made = async (request: { model: string; input: Input }): Promise<Run> => {
  const { body } = await customer.run(request, { Prefer: 'wait=120' })
  const ended = async () => {
    const { body: run } = await customer.send<Run>(`/v1/runs/${body.run_id}`)
    return ['completed', 'failed'].includes(run.status) && run
  }
  return until('the run has ended', ended, { pollMs: 200, maxWaitMs: 500_000 })
}

/** The input of image-to-* endpoints: an uploaded picture, wider than high. */
const source = await made({
  model: 'nano-banana-2',
  input: { prompt: 'a bay at dusk', aspect_ratio: '4:3', output_format: 'jpeg' },
})

/** The input of video-to-* endpoints. */
const film = await made({
  model: 'gemini-omni-flash',
  input: { prompt: 'waves at dusk', duration: 3, resolution: '360p' },
})

/** A 4K film has 2160 lines. */
const sizeOf = (value: unknown) => Number.parseFloat(String(value)) * (String(value).endsWith('K') ? 540 : 1)

/** An endpoint's first example, as short and small as allowed, with defaults for the rest. */
const smallest = ({ parametersSchema }: Endpoint): Input => {
  const { properties, examples } = parametersSchema
  const input: Input = { ...examples?.[0] }
  const least = (name: string) => {
    const values = properties[name]?.['enum'] as unknown[] | undefined
    return values?.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0] ?? properties[name]?.['minimum']
  }
  for (const name of ['duration', 'resolution']) if (properties[name]) input[name] = least(name)
  if ('image_url' in properties) input['image_url'] = source.output?.url
  if ('video_url' in properties) input['video_url'] = film.output?.url
  compileFillingCheck(parametersSchema)(input)
  return input
}

const fetchMedia = async ({ output }: Run): Promise<{ type: string; bytes: Buffer }> => {
  const answer = await fetch(String(output?.url))
  return { type: String(answer.headers.get('content-type')), bytes: Buffer.from(await answer.arrayBuffer()) }
}

const ratioOf = (input: Input): number | undefined => {
  const [, width, height] = /^(\d+):(\d+)$/.exec(String(input['aspect_ratio'])) ?? []
  return width ? Number(width) / Number(height) : undefined
}

/** A side may differ by a few pixels, because encoders need multiples. */
const isNear = (t: Test, found: number, expected: number, what: string, part = 0.03) =>
  t.ok(Math.abs(found / expected - 1) < part, `${what}: ${found} for ${expected}`)

const checkPicture = async (t: Test, input: Input, run: Run) => {
  const { type, bytes } = await fetchMedia(run)
  t.equal(type, `image/${input['output_format'] ?? 'png'}`)
  const { width, height } = await loadImage(bytes)
  const exact = /^(\d+)x(\d+)$/.exec(String(input['size'] ?? input['image_size']))
  if (exact) t.same([width, height], [Number(exact[1]), Number(exact[2])])
  else if ('width' in input) t.same([width, height], [input['width'], input['height']])
  const ratio = ratioOf(input) ?? (input['aspect_ratio'] === 'match_input_image' ? 4 / 3 : undefined)
  if (ratio) isNear(t, width / height, ratio, 'ratio', 0.06)
  const [, thousands] = /^(\d+)K$/.exec(String(input['resolution'])) ?? []
  if (thousands) isNear(t, Math.sqrt(width * height), Number(thousands) * 1024, 'side', 0.1)
}

const checkFilm = async (t: Test, input: Input, run: Run) => {
  const { type, bytes } = await fetchMedia(run)
  t.equal(type, 'video/mp4')
  const file = createFile()
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(Uint8Array.from(bytes).buffer, 0))
  file.flush()
  const { videoTracks, duration, timescale } = file.getInfo()
  t.match(videoTracks[0]?.codec, /^avc1\./)
  isNear(t, duration / timescale, Number(input['duration'] ?? 5), 'seconds')
  const [width, height] = [videoTracks[0]?.track_width ?? 0, videoTracks[0]?.track_height ?? 0]
  const [, lines] = /^(\d+)p$/.exec(String(input['resolution'])) ?? []
  if (lines) isNear(t, Math.min(width, height), Number(lines), 'lines', 0.01)
  const ratio = ratioOf(input)
  if (ratio) isNear(t, width / height, ratio, 'ratio')
}

const checkSound = async (t: Test, input: Input, run: Run) => {
  const { type, bytes } = await fetchMedia(run)
  if (input['output_format'] === 'mp3') {
    t.equal(type, 'audio/mpeg')
    t.equal(mp3Frames(bytes).readUInt16BE(0) >> 5, 0x7ff, 'a frame of MPEG audio')
    return
  }
  t.equal(type, 'audio/wav')
  t.equal(bytes.toString('latin1', 0, 4), 'RIFF')
  // The header has the bytes per second.
  if (typeof input['duration'] === 'number')
    isNear(t, (bytes.length - 44) / bytes.readUInt32LE(28), input['duration'], 'seconds')
}

const checks: Record<string, (t: Test, input: Input, run: Run) => Promise<void>> = {
  t2i: checkPicture,
  i2i: checkPicture,
  t2v: checkFilm,
  i2v: checkFilm,
  v2v: checkFilm,
  t2a: checkSound,
  t2t: async (t, _, run) => {
    t.ok(run.output?.text)
  },
}

const endpoints = shipped
  .filter(family => family.id !== 'sandbox')
  .flatMap(family => family.endpoints.map(endpoint => ({ model: family.id, endpoint })))

/** In the short form, an endpoint of each kind, whose films are small. */
const FEW = [
  ...['nano-banana-2-t2i', 'nano-banana-2-i2i', 'gemini-omni-flash-t2v', 'gemini-omni-flash-i2v', 'veo-3-1-v2v'],
  ...['eleven-v3-t2a', 'gpt-6-1-terra-t2t'],
]
const selected = endpoints.filter(({ endpoint }) => isLong || FEW.includes(endpoint.id))

t.equal(endpoints.length, 57)
t.equal(selected.length, isLong ? 57 : FEW.length)
for (const { model, endpoint } of selected)
  t.test(`${endpoint.id} returns what it promises`, async t => {
    const input = smallest(endpoint)
    const { body: quote } = await customer.post<{ credits: number }>('/v1/run?dry_run=true', { model, input })
    const run = await made({ model, input })
    t.match(run, { status: 'completed', endpoint: endpoint.id, credits_charged: quote.credits })
    await checks[endpoint.kind]?.(t, input, run)
  })
