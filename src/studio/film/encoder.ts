import { createRequire } from 'node:module'
import type * as H264 from 'h264-mp4-encoder'
import { tidyMp4 } from './mp4.ts'

// The bundle wrongly declares itself an ES module, which loaders handle differently; `require` always works.
const { createH264MP4Encoder }: typeof H264 = createRequire(import.meta.url)('h264-mp4-encoder')

interface FilmEncoder {
  /** Adds a frame of RGBA pixels. */
  add(pixels: Uint8Array): void
  /** Finishes and returns the file. */
  finish(): Uint8Array
}

/** Writes H.264 into an MP4 file. One film at a time: all encoders of a thread share one file system. */
export async function openEncoder(film: {
  width: number
  height: number
  framesPerSecond: number
}): Promise<FilmEncoder> {
  const encoder = await createH264MP4Encoder()
  encoder.width = film.width
  encoder.height = film.height
  encoder.frameRate = film.framesPerSecond
  encoder.quantizationParameter = QUANTIZATION
  encoder.groupOfPictures = Math.ceil(film.framesPerSecond * SECONDS_BETWEEN_KEYFRAMES)
  encoder.speed = FASTEST
  encoder.initialize()
  return {
    add: pixels => encoder.addFrameRgba(pixels),
    finish() {
      encoder.finalize()
      const file = encoder.FS.readFile(encoder.outputFilename)
      encoder.FS.unlink(encoder.outputFilename)
      encoder.delete()
      return tidyMp4(file)
    },
  }
}

// From 10, the best, to 51. This value keeps sky gradients free of banding, and a minute of 720p under 60 MB.
const QUANTIZATION = 26

// Players seek to keyframes, so this is the precision of seeking.
const SECONDS_BETWEEN_KEYFRAMES = 2

/** The least motion search, which suffices because motion here is uniform. */
const FASTEST = 10
