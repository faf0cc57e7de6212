/** Adds reverb to two channels in place, block by block: Schroeder's parallel combs and serial all-passes. */
export function createReverb(rateHz: number): (left: Float32Array, right: Float32Array) => void {
  const sides = [0, SPREAD_SECONDS].map(extra => ({
    combs: COMB_SECONDS.map(seconds => comb(delayLine((seconds + extra) * rateHz))),
    diffusers: ALLPASS_SECONDS.map(seconds => diffuser(delayLine((seconds + extra) * rateHz))),
  }))
  return (...channels) => {
    channels.forEach((samples, side) => {
      const { combs, diffusers } = sides[side] ?? { combs: [], diffusers: [] }
      for (let index = 0; index < samples.length; index++) {
        const dry = samples[index] ?? 0
        let wet = 0
        for (const echo of combs) wet += echo(dry)
        for (const diffuse of diffusers) wet = diffuse(wet)
        samples[index] = dry + wet * WETNESS
      }
    })
  }
}

type Filter = (sample: number) => number

interface DelayLine {
  read(): number
  write(sample: number): void
}

function delayLine(length: number): DelayLine {
  const samples = new Float32Array(Math.round(length))
  let at = 0
  return {
    read: () => samples[at] ?? 0,
    write(sample) {
      samples[at] = sample
      at = (at + 1) % samples.length
    },
  }
}

/** Repeats its input, each time quieter and duller. */
function comb(line: DelayLine): Filter {
  let dulled = 0
  return sample => {
    const echo = line.read()
    dulled = echo * (1 - DULLNESS) + dulled * DULLNESS
    line.write(sample + dulled * FEEDBACK)
    return echo
  }
}

/** Smears a sound over time without colouring it. */
function diffuser(line: DelayLine): Filter {
  return sample => {
    const delayed = line.read()
    line.write(sample + delayed * DIFFUSION)
    return delayed - sample
  }
}

// Lengths without a common divisor, so that the echoes do not form a tone.
const COMB_SECONDS = [0.0297, 0.0371, 0.0411, 0.0437]
const ALLPASS_SECONDS = [0.005, 0.0017]

// Different delays for each ear make the room sound wide.
const SPREAD_SECONDS = 0.00052

const FEEDBACK = 0.84
const DULLNESS = 0.35
const DIFFUSION = 0.5
const WETNESS = 0.09
