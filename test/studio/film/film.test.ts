import { createCanvas } from '@napi-rs/canvas'
import { createFile, type Movie, MP4BoxBuffer } from 'mp4box'
import t from 'tap'
import { lengthOf } from '../../../src/studio/film/film.ts'
import { openStudio } from '../../adapters/provider/sandbox/support.ts'

const { make } = openStudio(t.teardown)

const input = { prompt: 'a lake at dusk', resolution: '144p', aspect_ratio: '16:9', duration: 2 }
const film = (more = {}, seed = 1, source?: Uint8Array) =>
  make({ craft: 'film', seed, input: { ...input, ...more }, ...(source && { source }) })

/** A film takes a second of a processor, so the tests share one. */
const shared = await film()

/** The epoch of MP4. */
const NO_TIME = new Date('1904-01-01T00:00:00Z')

/** What an independent parser finds in a file. */
const read = (bytes: Uint8Array): Movie => {
  const file = createFile()
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(Uint8Array.from(bytes).buffer, 0))
  file.flush()
  return file.getInfo()
}

const topLevel = (bytes: Uint8Array): string[] => {
  const buffer = Buffer.from(bytes)
  const names: string[] = []
  for (let at = 0; at < buffer.length; at += buffer.readUInt32BE(at))
    names.push(buffer.toString('latin1', at + 4, at + 8))
  return names
}

t.test('a film is H.264 of the requested length and size', async t => {
  const { bytes, mimeType } = shared
  const { videoTracks, duration, timescale } = read(bytes)
  t.equal(mimeType, 'video/mp4')
  t.equal(duration / timescale, 2)
  t.match(videoTracks, [{ nb_samples: 24, track_width: 256, track_height: 144 }])
  t.match(videoTracks[0]?.codec, /^avc1\./)
})

t.test('portrait, another frame rate, and from a picture', async t => {
  const upright = read((await film({ aspect_ratio: '9:16', fps: 25, duration: 1 })).bytes)
  t.match(upright.videoTracks, [{ nb_samples: 25, track_width: 144, track_height: 256 }])
  t.equal(upright.duration / upright.timescale, 1)

  const source = await createCanvas(300, 300).encode('png')
  const still = read((await film({ aspect_ratio: 'auto' }, 1, source)).bytes)
  t.match(
    still.videoTracks,
    [{ nb_samples: 24, track_width: 144, track_height: 144 }],
    'with the aspect ratio of the source',
  )
})

t.test('a browser can play it while it loads', async t => {
  const { bytes } = shared
  t.same(topLevel(bytes), ['ftyp', 'moov', 'mdat', 'uuid'], 'the index comes first, and XMP last')
  const file = createFile(true)
  const samples: Uint8Array[] = []
  file.onSamples = (_id, _user, found) => samples.push(...found.map(sample => sample.data as Uint8Array))
  file.onReady = ({ videoTracks }) => {
    file.setExtractionOptions(videoTracks[0]?.id ?? 0)
    file.start()
  }
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(Uint8Array.from(bytes).buffer, 0))
  file.flush()
  t.equal(samples.length, 24)
  for (const sample of samples) {
    // Each frame is one or more H.264 units, each after its length, and fills its sample exactly.
    const view = Buffer.from(sample)
    let at = 0
    while (at + 4 <= view.length) at += 4 + view.readUInt32BE(at)
    if (at !== view.length) t.fail('the index leads to something else than a frame')
  }
})

t.test('the image moves', async t => {
  const sizes = new Set<number>()
  for (const prompt of ['a lake', 'the sea']) sizes.add((await film({ prompt })).bytes.length)
  // Identical frames would take hardly more space than the first.
  const still = await film({ prompt: 'a lake', duration: 1, fps: 1 })
  t.ok(Math.min(...sizes) > 1.5 * still.bytes.length, `${[...sizes]} and ${still.bytes.length} bytes`)
})

t.test('the same film always has the same bytes, and another seed gives another film', async t => {
  t.ok(Buffer.from(shared.bytes).equals((await film()).bytes))
  const { created, modified } = read(shared.bytes)
  t.same([created, modified], [NO_TIME, NO_TIME], 'whenever it is made')
  t.notOk(Buffer.from(shared.bytes).equals((await film({}, 2)).bytes))
})

t.test('progress rises with the frames, up to 1', async t => {
  const progress = new Float32Array(new SharedArrayBuffer(4))
  const seen = new Set<number>()
  const making = make({ craft: 'film', seed: 1, progress, input: { ...input, resolution: '480p', duration: 2 } })
  const timer = setInterval(() => seen.add(progress[0] ?? 0), 5)
  await making
  clearInterval(timer)
  const values = [...seen]
  t.ok(values.length > 3, `seen: ${values.map(value => value.toFixed(2))}`)
  t.same(
    values,
    [...values].sort((one, other) => one - other),
  )
  t.equal(progress[0], 1)
})

t.test('a film that would be too much work keeps its length, with fewer frames', async t => {
  const uhd = { width: 3840, height: 2160 }
  t.same(lengthOf({ duration: 8 }, uhd), { frames: 96, seconds: 8 })
  t.same(lengthOf({ duration: 20, fps: 50 }, uhd), { frames: 301, seconds: 20 })
  t.same(lengthOf({ duration: 10, fps: 50 }, { width: 1280, height: 720 }), { frames: 500, seconds: 10 })
  t.same(lengthOf({ duration: 1, fps: 1000 }, { width: 1280, height: 720 }), { frames: 60, seconds: 1 })
})
