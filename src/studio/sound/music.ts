import { type Made, numberIn, textIn, type Work } from '../work.ts'
import { compose } from './composition.ts'
import { lengthOf, play } from './instrument.ts'
import { createReverb } from './reverb.ts'
import { openSoundFile } from './sound-file.ts'

/** Composes and renders a piece of the requested length, second by second, so that memory does not grow with it. */
export async function makeMusic({ input, seed, progress }: Work): Promise<Made> {
  const seconds = Math.min(MAX_SECONDS, Math.max(1, numberIn(input, 'duration', DEFAULT_SECONDS)))
  const notes = compose(textIn(input, 'prompt'), seed, seconds)
  const file = await openSoundFile(input, { sampleRateHz: RATE_HZ, channels: 2 })
  const reverb = createReverb(RATE_HZ)
  const total = Math.round(seconds * RATE_HZ)
  let sounding: typeof notes = []
  let next = 0
  for (let from = 0; from < total; from += RATE_HZ) {
    const length = Math.min(RATE_HZ, total - from)
    const left = new Float32Array(length)
    const right = new Float32Array(length)
    const until = (from + length) / RATE_HZ
    sounding = sounding.filter(note => note.startSeconds + lengthOf(note) > from / RATE_HZ)
    for (let note = notes[next]; note && note.startSeconds < until; note = notes[++next]) sounding.push(note)
    for (const note of sounding) play(note, { left, right, from }, RATE_HZ)
    reverb(left, right)
    for (const samples of [left, right]) master(samples, from, total)
    file.add([left, right])
    progress?.fill((from + length) / total)
  }
  return file.finish()
}

/** Limits loud samples softly, and fades out the end. */
function master(samples: Float32Array, from: number, total: number): void {
  const fade = Math.min(total / 3, FADE_SECONDS * RATE_HZ)
  samples.forEach((sample, index) => {
    samples[index] = Math.tanh(sample * GAIN) * Math.min(1, (total - from - index) / fade)
  })
}

const RATE_HZ = 44_100

const DEFAULT_SECONDS = 30

// More than any family offers, but prevents inputs that would occupy a thread for hours.
const MAX_SECONDS = 600

const FADE_SECONDS = 2.5

// Brings the loudest parts to where the limiting begins.
const GAIN = 1.5
