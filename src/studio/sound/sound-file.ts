import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createEncoder, type WasmMediaEncoder } from 'wasm-media-encoders'
import { type Input, type Made, textIn } from '../work.ts'

/** A sound file under construction. Samples are from -1 to 1, one array per channel. */
interface SoundFile {
  add(channels: readonly Float32Array[]): void
  finish(): Made
}

interface SoundShape {
  sampleRateHz: number
  channels: 1 | 2
}

/** Opens a file in the format that the input requests: WAV, MP3 or else Ogg Vorbis. */
export function openSoundFile(input: Input, shape: SoundShape): Promise<SoundFile> {
  switch (textIn(input, 'output_format')) {
    case 'wav':
      return openWav(shape)
    case 'mp3':
      return openMp3(shape)
    default:
      return openOgg(shape)
  }
}

async function openMp3({ sampleRateHz, channels }: SoundShape): Promise<SoundFile> {
  const encoder = await createEncoder('audio/mpeg', await readFile(lame))
  encoder.configure({ sampleRate: sampleRateHz, channels, bitrate: MP3_KBIT_PER_S })
  return encoded(encoder, 'audio/mpeg')
}

async function openOgg({ sampleRateHz, channels }: SoundShape): Promise<SoundFile> {
  const encoder = await createEncoder('audio/ogg', await readFile(vorbis))
  // Fixed, because the encoder's random serial number would change the bytes of the same sound each time.
  encoder.configure({ sampleRate: sampleRateHz, channels, vbrQuality: VORBIS_QUALITY, oggSerialNo: 1 })
  return encoded(encoder, 'audio/ogg')
}

function encoded(encoder: Encoder, mimeType: string): SoundFile {
  const parts: Uint8Array[] = []
  return {
    // Copied, because the encoder reuses its memory.
    add: samples => void parts.push(encoder.encode(samples).slice()),
    finish: () => ({ mimeType, bytes: Buffer.concat([...parts, encoder.finalize()]) }),
  }
}

type Encoder = Pick<WasmMediaEncoder<'audio/mpeg' | 'audio/ogg'>, 'encode' | 'finalize'>

async function openWav({ sampleRateHz, channels }: SoundShape): Promise<SoundFile> {
  const parts: Buffer[] = []
  return {
    add: samples => void parts.push(interleave(samples)),
    finish() {
      const sizeBytes = parts.reduce((sum, part) => sum + part.length, 0)
      return { mimeType: 'audio/wav', bytes: Buffer.concat([wavHeader(sizeBytes, sampleRateHz, channels), ...parts]) }
    },
  }
}

function interleave(channels: readonly Float32Array[]): Buffer {
  const frames = channels[0]?.length ?? 0
  const bytes = Buffer.alloc(frames * channels.length * SAMPLE_BYTES)
  channels.forEach((samples, channel) => {
    samples.forEach((sample, frame) => {
      const value = Math.round(Math.max(-1, Math.min(1, sample)) * 32_767)
      bytes.writeInt16LE(value, (frame * channels.length + channel) * SAMPLE_BYTES)
    })
  })
  return bytes
}

/** The 44-byte header of a RIFF file with PCM samples. */
function wavHeader(sizeBytes: number, sampleRateHz: number, channels: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + sizeBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(PCM, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(sampleRateHz, 24)
  header.writeUInt32LE(sampleRateHz * channels * SAMPLE_BYTES, 28)
  header.writeUInt16LE(channels * SAMPLE_BYTES, 32)
  header.writeUInt16LE(SAMPLE_BYTES * 8, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(sizeBytes, 40)
  return header
}

const PCM = 1
const SAMPLE_BYTES = 2

// About 130 kbit/s in stereo, from where music sounds nearly like the original.
const VORBIS_QUALITY = 4

// The usual rate of the vendors' speech.
const MP3_KBIT_PER_S = 128

const vorbis = createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/ogg.wasm')
// Beside it, since the package exports a wrong path for this one.
const lame = join(dirname(vorbis), 'mp3.wasm')
