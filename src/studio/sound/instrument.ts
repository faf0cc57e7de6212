import type { Note, Voice } from './composition.ts'

/** A second of sound, or less: `from` is the number of its first sample. */
export interface Block {
  left: Float32Array
  right: Float32Array
  from: number
}

/** Adds what sounds of a note during a block to both of its channels. */
export function play(note: Note, { left, right, from }: Block, rateHz: number): void {
  const { wave, width, decay, attack, release } = instruments[note.voice]
  const step = (note.frequencyHz * WAVE_SAMPLES) / rateHz
  const start = Math.round(note.startSeconds * rateHz) - from
  const first = Math.max(0, start)
  const end = Math.min(left.length, start + Math.ceil(lengthOf(note) * rateHz))
  const toLeft = Math.sqrt((1 - note.place) / 2) * note.loudness
  const toRight = Math.sqrt((1 + note.place) / 2) * note.loudness
  const fading = Math.exp(-decay / rateHz)
  let held = Math.exp((-decay * (first - start)) / rateHz)
  for (let index = first; index < end; index++) {
    const sample = index - start
    const seconds = sample / rateHz
    const rise = Math.min(1, seconds / attack)
    const fall = seconds <= note.seconds ? 1 : Math.max(0, 1 - (seconds - note.seconds) / release)
    const level = held * rise * rise * fall * fall
    const place = sample * step
    left[index] = (left[index] ?? 0) + toLeft * level * (wave[(place * (1 - width)) & WAVE_MASK] ?? 0)
    right[index] = (right[index] ?? 0) + toRight * level * (wave[(place * (1 + width)) & WAVE_MASK] ?? 0)
    held *= fading
  }
}

/** For how many seconds a note can be heard. */
export const lengthOf = (note: Note) => note.seconds + instruments[note.voice].release

interface Instrument {
  /** One turn of the tone, from which all others are read: a sine for each sample would take ten times as long. */
  wave: Float32Array
  /** Seconds of growing in, and of dying away once the note is let go. */
  attack: number
  release: number
  /** How fast it fades while it is held, as a share of each second. */
  decay: number
  /** How far apart the channels are tuned, which the ear takes for the width of a room. */
  width: number
}

// A power of two, so that the place in the turn is a matter of its lowest bits; fine enough to add no noise of its own.
const WAVE_SAMPLES = 8192
const WAVE_MASK = WAVE_SAMPLES - 1

const waveOf = (tone: (phase: number) => number) =>
  Float32Array.from({ length: WAVE_SAMPLES }, (_, index) => tone((2 * Math.PI * index) / WAVE_SAMPLES))

const instruments: Record<Voice, Instrument> = {
  pad: {
    wave: waveOf(phase => Math.sin(phase) + 0.35 * Math.sin(2 * phase) + 0.16 * Math.sin(3 * phase)),
    ...{ attack: 0.7, release: 1.1, decay: 0.05, width: 0.0018 },
  },
  bass: {
    wave: waveOf(phase => Math.sin(phase) + 0.3 * Math.sin(2 * phase)),
    ...{ attack: 0.02, release: 0.25, decay: 0.8, width: 0 },
  },
  pluck: {
    wave: waveOf(phase => Math.sin(phase + 0.9 * Math.sin(2 * phase))),
    ...{ attack: 0.004, release: 0.2, decay: 3.4, width: 0.0006 },
  },
  // The bars of a vibraphone are cut so that their second tone lies two octaves above the first.
  bell: {
    wave: waveOf(phase => Math.sin(phase) + 0.35 * Math.sin(4 * phase) + 0.1 * Math.sin(10 * phase)),
    ...{ attack: 0.006, release: 0.6, decay: 1.6, width: 0.0004 },
  },
}
