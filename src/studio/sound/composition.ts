import { between, createRandom, hashText, pick, type Random } from '../random.ts'

/** A note: its start, duration and sound. */
export interface Note {
  startSeconds: number
  seconds: number
  frequencyHz: number
  voice: Voice
  /** From 0 to 1. */
  loudness: number
  /** From -1, on the left, to 1. */
  place: number
}

export type Voice = 'pad' | 'bass' | 'pluck' | 'bell'

/** Composes a piece: four repeating chords under an arpeggio and, later, a melody. Notes are in time order. */
export function compose(prompt: string, seed: number, seconds: number): Note[] {
  const random = createRandom(hashText(`music ${seed} ${prompt}`))
  const words = new Set(prompt.toLowerCase().match(/\p{L}+/gu))
  const mentions = (list: string) => list.split(' ').some(word => words.has(word))
  const minor = mentions(DARK) || (!mentions(BRIGHT) && random() < 0.4)
  const beatSeconds = 60 / tempoOf(prompt, mentions, random)
  const key: Key = { tonic: 45 + Math.floor(random() * 8), scale: minor ? MINOR : MAJOR }
  const chords = pick(random, minor ? minorProgressions : majorProgressions)
  const figure = Array.from({ length: 8 }, () => (random() < 0.82 ? Math.floor(random() * 5) : undefined))
  const motif = Array.from({ length: 8 }, () => (random() < 0.45 ? Math.floor(random() * 7) : undefined))
  const notes: Note[] = []
  for (let bar = 0; bar * 4 * beatSeconds < seconds; bar++) {
    const at = { startSeconds: bar * 4 * beatSeconds, beatSeconds, key, root: chords[bar % chords.length] ?? 0, random }
    notes.push(...padOf(at), ...bassOf(at), ...arpeggioOf(at, figure))
    // The melody pauses in the first round of chords, and in every third one.
    if (Math.floor(bar / 4) % 3 !== 0) notes.push(...melodyOf(at, motif))
  }
  return notes.sort((one, other) => one.startSeconds - other.startSeconds)
}

interface Key {
  /** As a MIDI note. */
  tonic: number
  scale: readonly number[]
}

interface Bar {
  startSeconds: number
  beatSeconds: number
  key: Key
  /** The chord's root, as a degree of the scale. */
  root: number
  random: Random
}

function padOf({ startSeconds, beatSeconds, key, root, random }: Bar): Note[] {
  return [0, 2, 4, 6].map((step, index) => ({
    startSeconds,
    // Held into the next bar, so that the chords blend.
    seconds: beatSeconds * 4.6,
    // Within one octave, so that the tones of consecutive chords are close.
    frequencyHz: frequencyOf(key, 7 + ((root + step) % 7)),
    voice: 'pad',
    loudness: index === 3 ? 0.045 : 0.085,
    place: [-0.6, 0.5, -0.2, 0.8][index] ?? between(random, -1, 1),
  }))
}

function bassOf({ startSeconds, beatSeconds, key, root, random }: Bar): Note[] {
  const beats = random() < 0.5 ? [0, 2.5] : [0, 1.5, 3]
  return beats.map(beat => ({
    startSeconds: startSeconds + beat * beatSeconds,
    seconds: beatSeconds * 1.4,
    frequencyHz: frequencyOf(key, root - (root > 3 ? 7 : 0)),
    voice: 'bass',
    loudness: 0.26,
    place: 0,
  }))
}

function arpeggioOf({ startSeconds, beatSeconds, key, root, random }: Bar, figure: (number | undefined)[]): Note[] {
  return figure.flatMap((step, eighth): Note[] => {
    if (step === undefined) return []
    const degree = 14 + root + (CHORD_TONES[step] ?? 0)
    return [
      {
        startSeconds: startSeconds + (eighth * beatSeconds) / 2 + between(random, 0, 0.012),
        seconds: 1.2,
        frequencyHz: frequencyOf(key, degree),
        voice: 'pluck',
        loudness: between(random, 0.07, 0.11) * (eighth % 4 === 0 ? 1.25 : 1),
        place: eighth % 2 === 0 ? -0.5 : 0.5,
      },
    ]
  })
}

function melodyOf({ startSeconds, beatSeconds, key, root, random }: Bar, motif: (number | undefined)[]): Note[] {
  return motif.flatMap((step, eighth): Note[] => {
    if (step === undefined) return []
    // Chord tones on the beat, any tones off the beat.
    const degree = 21 + (eighth % 2 === 0 ? root + (CHORD_TONES[step % 3] ?? 0) : step)
    return [
      {
        startSeconds: startSeconds + (eighth * beatSeconds) / 2,
        seconds: 2.4,
        frequencyHz: frequencyOf(key, degree),
        voice: 'bell',
        loudness: between(random, 0.05, 0.08),
        place: between(random, -0.3, 0.3),
      },
    ]
  })
}

function frequencyOf({ tonic, scale }: Key, degree: number): number {
  const octave = Math.floor(degree / scale.length)
  const note = tonic + 12 * octave + (scale[degree - octave * scale.length] ?? 0)
  return 440 * 2 ** ((note - 69) / 12)
}

function tempoOf(prompt: string, mentions: (list: string) => boolean, random: Random): number {
  const named = Number(/(\d{2,3}) ?bpm/i.exec(prompt)?.[1])
  if (named >= 40 && named <= 200) return named
  return mentions(FAST) ? between(random, 108, 128) : between(random, 66, 88)
}

/** A chord over two octaves, as steps of the scale above its root. */
const CHORD_TONES = [0, 2, 4, 7, 9]

const MAJOR = [0, 2, 4, 5, 7, 9, 11]
const MINOR = [0, 2, 3, 5, 7, 8, 10]

type Progressions = readonly [readonly number[], ...(readonly number[])[]]

// Degrees of the scale, counted from 0, as in many popular songs.
const majorProgressions: Progressions = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [3, 0, 4, 5],
  [0, 2, 3, 4],
]
const minorProgressions: Progressions = [
  [0, 5, 2, 6],
  [0, 3, 5, 6],
  [0, 6, 5, 6],
  [0, 5, 3, 6],
]

const DARK = 'dark sad melancholy melancholic night rain noir minor tense horror lonely mysterious winter'
const BRIGHT = 'happy bright joyful sunny summer major uplifting cheerful playful morning love'
const FAST = 'fast dance upbeat energetic techno house drum run electronic party disco rock funk'
