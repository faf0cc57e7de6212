import { type Made, numberIn, textIn, type Work } from '../work.ts'
import { compose } from './composition.ts'
import { lengthOf, play } from './instrument.ts'
import { createReverb } from './reverb.ts'
import { openSoundFile } from './sound-file.ts'

/** Composes a piece of the length asked for and plays it, second by second, so that its length costs no memory. */
export async function makeMusic({ input, seed, progress }: Work): Promise<Made> {
  const seconds = Math.min(LONGEST_SECONDS, Math.max(1, numberIn(input, 'duration', DEFAULT_SECONDS)))
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

/** Rounds off what is too loud, and lets the end fade. */
function master(samples: Float32Array, from: number, total: number): void {
  const fade = Math.min(total / 3, FADE_SECONDS * RATE_HZ)
  samples.forEach((sample, index) => {
    samples[index] = Math.tanh(sample * GAIN) * Math.min(1, (total - from - index) / fade)
  })
}

const RATE_HZ = 44_100

const DEFAULT_SECONDS = 30

// Beyond what any family offers, so that no input can keep a thread for hours.
const LONGEST_SECONDS = 600

const FADE_SECONDS = 2.5

// Brings the loudest places to where the rounding begins.
const GAIN = 1.5
