import { between, createRandom, hashText, type Random } from '../random.ts'
import { type Made, numberIn, textIn, type Work } from '../work.ts'
import { openSoundFile } from './sound-file.ts'
import { type Syllable, syllablesOf, type Vowel } from './syllables.ts'

/** Speaks a text in an invented language: it has the rhythm and melody of speech, but no words. */
export async function makeSpeech({ input, seed, progress }: Work): Promise<Made> {
  const text = textIn(input, 'text') || textIn(input, 'prompt')
  const random = createRandom(seed)
  const voice = voiceFor(textIn(input, 'voice') || textIn(input, 'voice_id'), random)
  voice.pitchHz *= 2 ** (numberIn(input, 'pitch', 0) / SEMITONES)
  const speed = Math.min(FASTEST, Math.max(1 / FASTEST, numberIn(input, 'speed', 1)))
  const syllables = [
    { kind: 'silence', seconds: 0.08 } as const,
    ...syllablesOf(text),
    { kind: 'silence', seconds: 0.3 } as const,
  ]
  const file = await openSoundFile(input, { sampleRateHz: RATE_HZ, channels: 1 })
  const say = createThroat(voice, random)
  let spoken = 0
  for (const syllable of syllables) {
    file.add([say({ ...syllable, seconds: syllable.seconds / speed })])
    progress?.fill(++spoken / syllables.length)
  }
  return file.finish()
}

interface VoiceShape {
  pitchHz: number
  /** The length of the vocal tract, as a factor of the formants. */
  size: number
}

/** A named voice always sounds the same; without a name, the seed chooses one. */
function voiceFor(name: string, random: Random): VoiceShape {
  const chance = name === '' ? random : createRandom(hashText(name))
  const pitchHz = between(chance, 95, 215)
  return { pitchHz, size: 0.9 + (0.28 * (pitchHz - 95)) / 120 }
}

/** A pulse from the vocal cords, breath, and three resonances that glide between vowels. */
function createThroat(voice: VoiceShape, random: Random): (syllable: Syllable) => Float32Array {
  const resonances = BANDWIDTHS_HZ.map(resonance)
  const formants = [...FORMANTS_HZ.a]
  let phase = 0
  return syllable => {
    const samples = new Float32Array(Math.round(syllable.seconds * RATE_HZ))
    if (syllable.kind === 'silence') return samples
    const target = FORMANTS_HZ[syllable.vowel]
    const drift = between(random, 0.97, 1.03)
    samples.forEach((_, index) => {
      const share = index / samples.length
      if (index % GLIDE_SAMPLES === 0) {
        resonances.forEach((filter, number) => {
          formants[number] = (formants[number] ?? 0) + ((target[number] ?? 0) - (formants[number] ?? 0)) * 0.12
          filter.tune((formants[number] ?? 0) * voice.size)
        })
      }
      const vibrato = 1 + 0.012 * Math.sin((2 * Math.PI * 5.2 * index) / RATE_HZ)
      phase = (phase + (voice.pitchHz * syllable.pitch * drift * vibrato * (1.04 - 0.08 * share)) / RATE_HZ) % 1
      // A rounded sawtooth: the vocal cords open slowly and close abruptly.
      const cords = (phase < 0.7 ? phase / 0.7 : (1 - phase) / 0.3) ** 2 - 0.3
      const breath = (random() - 0.5) * breathOf(syllable.onset, share)
      const source = cords * loudnessOf(syllable.onset, share) + breath
      const sound = resonances.reduce((sum, filter, number) => sum + filter.pass(source) * (LEVELS[number] ?? 0), 0)
      samples[index] = Math.tanh((sound + breath * 0.12) * 1.1) * 0.8
    })
    return samples
  }
}

type Voiced = Extract<Syllable, { kind: 'voiced' }>

function loudnessOf(onset: Voiced['onset'], share: number): number {
  const begin = onset === 'hum' ? 0 : 0.22
  const rise = Math.min(1, Math.max(0, (share - begin) / 0.2))
  return rise * Math.min(1, (1 - share) / 0.25)
}

function breathOf(onset: Voiced['onset'], share: number): number {
  if (onset === 'hiss') return share < 0.35 ? 0.7 * Math.sin((Math.PI * share) / 0.35) : 0.015
  if (onset === 'stop') return share > 0.1 && share < 0.22 ? 0.9 * (1 - (share - 0.1) / 0.12) : 0.015
  return 0.015
}

/** A resonance: a two-pole band-pass filter of constant gain. */
function resonance(bandwidthHz: number) {
  const radius = Math.exp((-Math.PI * bandwidthHz) / RATE_HZ)
  let turn = 0
  let last = 0
  let beforeLast = 0
  return {
    tune(frequencyHz: number): void {
      turn = 2 * radius * Math.cos((2 * Math.PI * frequencyHz) / RATE_HZ)
    },
    pass(sample: number): number {
      const passed = (1 - radius) * sample + turn * last - radius * radius * beforeLast
      beforeLast = last
      last = passed
      return passed
    },
  }
}

/** The first three formants of a man's vowels, as Peterson and Barney measured them in 1952. */
const FORMANTS_HZ: Record<Vowel, readonly [number, number, number]> = {
  a: [730, 1090, 2440],
  e: [530, 1840, 2480],
  i: [270, 2290, 3010],
  o: [570, 840, 2410],
  u: [300, 870, 2240],
}

const BANDWIDTHS_HZ = [80, 100, 140]
const LEVELS = [1, 0.7, 0.4]

// Enough for speech, and half the rate for music.
const RATE_HZ = 24_000

/** Formants move over about 50 ms; retuning every millisecond follows that without a step. */
const GLIDE_SAMPLES = 24

const FASTEST = 4

/** Semitones in an octave. */
const SEMITONES = 12
