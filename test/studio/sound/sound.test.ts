import t from 'tap'
import { syllablesOf } from '../../../src/studio/sound/syllables.ts'
import type { Input, Work } from '../../../src/studio/work.ts'
import { openStudio } from '../../adapters/provider/sandbox/support.ts'
import { mp3Frames } from '../../support/mp3.ts'

const { make } = openStudio(t.teardown)

const music = (input: Input, seed = 1) => sound({ craft: 'music', seed, input: { prompt: 'calm piano', ...input } })
const speech = (input: Input, seed = 1) => sound({ craft: 'speech', seed, input })
const sound = async (work: Work) => {
  const { bytes, mimeType } = await make(work)
  return { bytes: Buffer.from(bytes), mimeType }
}

/** A WAV file's header fields, and its samples from -1 to 1. */
function readWav(bytes: Buffer) {
  const [riff, wave, format] = [bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 12), bytes.readUInt16LE(20)]
  const samples = Float32Array.from(
    { length: bytes.readUInt32LE(40) / 2 },
    (_, at) => bytes.readInt16LE(44 + at * 2) / 32_768,
  )
  const [channels, rateHz] = [bytes.readUInt16LE(22), bytes.readUInt32LE(24)]
  return { riff, wave, format, channels, rateHz, samples, seconds: samples.length / channels / rateHz }
}

/** The codec, settings and number of samples of an Ogg file (RFC 3533). */
function readOgg(bytes: Buffer) {
  const pages: { flags: number; granule: number; body: number }[] = []
  let at = 0
  while (at < bytes.length) {
    if (bytes.toString('latin1', at, at + 4) !== 'OggS') throw new Error(`no page at ${at}`)
    const segments = bytes.subarray(at + 27, at + 27 + (bytes[at + 26] ?? 0))
    const body = at + 27 + segments.length
    pages.push({ flags: bytes[at + 5] ?? 0, granule: Number(bytes.readBigInt64LE(at + 6)), body })
    at = body + segments.reduce((sum, length) => sum + length, 0)
  }
  const header = pages[0]?.body ?? 0
  return {
    codec: bytes.toString('latin1', header + 1, header + 7),
    channels: bytes[header + 11],
    rateHz: bytes.readUInt32LE(header + 12),
    ended: at === bytes.length && (pages.at(-1)?.flags ?? 0) & 4,
    samples: pages.at(-1)?.granule ?? 0,
  }
}

const loudness = (samples: Float32Array) =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)

const peak = (samples: Float32Array) => samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)

t.test('music has the requested length, in stereo, and is audible to its end', async t => {
  const { bytes, mimeType } = await music({ duration: 6, output_format: 'wav' })
  const wav = readWav(bytes)
  t.equal(mimeType, 'audio/wav')
  t.match(wav, { riff: 'RIFF', wave: 'WAVE', format: 1, channels: 2, rateHz: 44_100, seconds: 6 })
  t.equal(bytes.readUInt32LE(4), bytes.length - 8, 'the header has the size of the file')
  for (let second = 0; second < 5; second++) {
    const level = loudness(wav.samples.subarray(second * 88_200, (second + 1) * 88_200))
    t.ok(level > 0.02, `second ${second}: ${level.toFixed(3)}`)
  }
  t.ok(peak(wav.samples) < 0.999, 'no clipping')
  t.ok(peak(wav.samples.subarray(-200)) < 0.01, 'it fades out')
  t.ok(
    wav.samples.some((sample, at) => at % 2 === 0 && Math.abs(sample - (wav.samples[at + 1] ?? 0)) > 0.02),
    'two sides',
  )
})

t.test('without a format, the file is Ogg Vorbis of the same length', async t => {
  const { bytes, mimeType } = await music({ duration: 3 })
  t.equal(mimeType, 'audio/ogg')
  t.match(readOgg(bytes), { codec: 'vorbis', channels: 2, rateHz: 44_100, ended: 4, samples: 3 * 44_100 })
  // Silence takes a fiftieth of that.
  t.ok(bytes.length > 3 * 6_000, `${bytes.length} bytes`)
})

t.test('MP3 has 128 kbit a second, from the first frame on', async t => {
  const { bytes, mimeType } = await music({ duration: 3, output_format: 'mp3' })
  t.equal(mimeType, 'audio/mpeg')
  const frames = mp3Frames(Buffer.from(bytes))
  t.equal(frames.readUInt16BE(0) & 0xfffe, 0xfffa, 'layer III of MPEG-1')
  // Encoders add a fraction of a second of silence at both ends.
  const seconds = frames.length / (128_000 / 8)
  t.ok(seconds >= 3 && seconds < 3.2, `${seconds} s`)
})

t.test('the same music always has the same bytes; another seed or prompt gives other music', async t => {
  for (const output_format of ['ogg', 'mp3', 'wav']) {
    const one = await music({ duration: 2, output_format })
    t.ok(one.bytes.equals((await music({ duration: 2, output_format })).bytes), output_format)
    t.notOk(one.bytes.equals((await music({ duration: 2, output_format }, 2)).bytes), 'seed')
    t.notOk(one.bytes.equals((await music({ duration: 2, output_format, prompt: 'fast drums' })).bytes), 'prompt')
  }
})

t.test('the duration of speech depends on its text', async t => {
  const seconds = async (text: string, more = {}) =>
    readWav((await speech({ text, output_format: 'wav', ...more })).bytes).seconds
  const once = await seconds('Hello there, my friend.')
  const threeTimes = await seconds('Hello there, my friend. Hello there, my friend. Hello there, my friend.')
  t.ok(once > 1 && once < 3, `${once} s`)
  t.ok(threeTimes > 2.3 * once && threeTimes < 3.1 * once, `${threeTimes} s`)
  t.ok((await seconds('Hello there, my friend.', { speed: 2 })) < 0.6 * once, 'twice as fast')
  t.ok((await seconds('Hello <#1.5#> there, my friend.')) > once + 1.3, 'a pause')
})

t.test('speech is audible, in both formats, in any script', async t => {
  for (const text of ['Good morning!', 'Доброе утро', '早上好', '12345', '…']) {
    const wav = readWav((await speech({ text, output_format: 'wav' })).bytes)
    t.match(wav, { channels: 1, rateHz: 24_000 })
    if (text !== '…') t.ok(loudness(wav.samples) > 0.03, `${text}: ${loudness(wav.samples).toFixed(3)}`)
    t.ok(peak(wav.samples) < 0.999)
    t.match(readOgg((await speech({ text })).bytes), { codec: 'vorbis', ended: 4, samples: wav.samples.length })
  }
})

t.test('a voice keeps its pitch, and directions are not spoken', async t => {
  const text = 'Good morning!'
  const one = await speech({ text, voice: 'Rachel', output_format: 'wav' })
  t.ok(one.bytes.equals((await speech({ text: `[whispers] ${text}`, voice: 'Rachel', output_format: 'wav' })).bytes))
  t.notOk(one.bytes.equals((await speech({ text, voice: 'Brian', output_format: 'wav' })).bytes))
})

t.test('a text is split into syllables and pauses', async t => {
  const voiced = (text: string) => syllablesOf(text).filter(syllable => syllable.kind === 'voiced')
  t.match(voiced('banana'), [{ vowel: 'a', onset: 'stop' }, { vowel: 'a', onset: 'hum' }, { vowel: 'a' }])
  t.equal(voiced('banana').length, 3)
  t.equal(voiced('strength').length, 1)
  const [first, last] = [voiced('are you here?')[0], voiced('are you here?').at(-1)]
  t.ok((last?.pitch ?? 0) > (first?.pitch ?? 0) * 0.95, 'a question rises')
})
