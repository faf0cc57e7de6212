import { createRequire } from 'node:module'
import type * as H264 from 'h264-mp4-encoder'
import { tidyMp4 } from './mp4.ts'

// Its bundle declares itself an ES module and is none, which loaders take in different ways; `require` has but one.
const { createH264MP4Encoder }: typeof H264 = createRequire(import.meta.url)('h264-mp4-encoder')

export interface FilmEncoder {
  /** Takes the next frame as RGBA pixels. */
  add(pixels: Uint8Array): void
  /** Ends the film and hands it over. */
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

// From 10, the best, to 51. At this one, gradients of a sky stay free of steps, and a minute of 720p stays under 60 MB.
const QUANTIZATION = 26

// A player can begin at any keyframe, so this is how exactly one can wind.
const SECONDS_BETWEEN_KEYFRAMES = 2

/** The encoder's name for searching less: what moves here moves evenly, and is found at once. */
const FASTEST = 10
