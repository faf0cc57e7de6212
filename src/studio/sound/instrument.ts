import type { Note, Voice } from './composition.ts'

/** Up to a second of sound. `from` is the number of its first sample. */
interface Block {
  left: Float32Array
  right: Float32Array
  from: number
}

/** Adds the part of a note that sounds during a block to both channels. */
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

/** How many seconds a note is audible. */
export const lengthOf = (note: Note) => note.seconds + instruments[note.voice].release

interface Instrument {
  /** One period of the tone as a table: computing a sine per sample would take ten times as long. */
  wave: Float32Array
  /** Seconds of fading in, and of fading out after the note ends. */
  attack: number
  release: number
  /** How fast it fades while held, as a share per second. */
  decay: number
  /** The detuning between the channels, which sounds like the width of a room. */
  width: number
}

// A power of two, so that a bit mask wraps the index; fine enough to add no noise.
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
  // The second partial of a vibraphone bar is two octaves above the first.
  bell: {
    wave: waveOf(phase => Math.sin(phase) + 0.35 * Math.sin(4 * phase) + 0.1 * Math.sin(10 * phase)),
    ...{ attack: 0.006, release: 0.6, decay: 1.6, width: 0.0004 },
  },
}
