import { setImmediate as nextTurn } from 'node:timers/promises'
import { drawCaption } from '../picture/caption.ts'
import { drawVignette } from '../picture/finish.ts'
import { filmSize } from '../picture/frame-size.ts'
import { blankSheet, drawCovering } from '../picture/repaint.ts'
import { isImage, readSource, release } from '../picture/source.ts'
import { createRandom, hashText } from '../random.ts'
import { type Input, type Made, numberIn, textIn, type Unusable, type Work } from '../work.ts'
import { turnVia } from '../worker-channel.ts'
import { type Camera, chooseCamera } from './camera.ts'
import { openEncoder } from './encoder.ts'
import { landscapeView, larger, pictureView, type View } from './views.ts'

/** Makes a film of a landscape or of the source image. The scene is painted once, and only the camera moves. */
export async function makeFilm({ input, seed, source, progress, line }: Work): Promise<Made | Unusable> {
  const image = source && (await readSource(source, turnVia(line)))
  if (image && !isImage(image)) return image
  const prompt = textIn(input, 'prompt')
  const size = filmSize(input, image)
  const camera = chooseCamera(createRandom(hashText(`camera ${seed} ${prompt}`)))
  const view = image ? photographed(image, size, camera) : landscapeView({ prompt, seed, ...size }, camera)
  if (image) await release(image)

  const { frames, seconds } = lengthOf(input, size)
  const encoder = await openEncoder({ ...size, framesPerSecond: frames / seconds })
  const sheet = blankSheet(size)
  for (let frame = 0; frame < frames; frame++) {
    view(sheet, frames === 1 ? 0 : frame / (frames - 1), seconds)
    drawVignette(sheet)
    drawCaption(sheet, { prompt, seed })
    encoder.add(sheet.canvas.data())
    progress?.fill((frame + 1) / frames)
    // The pixels' memory, up to 33 MB a frame, is freed only between turns of the event loop.
    await nextTurn()
  }
  return { mimeType: 'video/mp4', bytes: encoder.finish() }
}

function photographed(image: Parameters<typeof drawCovering>[1], size: Size, camera: Camera): View {
  const still = blankSheet(larger(size))
  drawCovering(still, image)
  return pictureView(still.canvas, camera)
}

interface Size {
  width: number
  height: number
}

/** Keeps the requested length, but reduces the frames if they would be too much work. */
export function lengthOf(input: Input, size: Size): { frames: number; seconds: number } {
  const seconds = Math.min(MAX_SECONDS, Math.max(1, numberIn(input, 'duration', DEFAULT_SECONDS)))
  const requested = Math.round(
    seconds * Math.min(MAX_FRAMES_PER_SECOND, numberIn(input, 'fps', DEFAULT_FRAMES_PER_SECOND)),
  )
  const affordable = Math.floor(MAX_PIXELS / (size.width * size.height))
  return { frames: Math.max(1, Math.min(requested, affordable)), seconds }
}

const DEFAULT_SECONDS = 5

// Enough for slow motion, at half the work of cinema's 24.
const DEFAULT_FRAMES_PER_SECOND = 12

// The refresh rate of common screens.
const MAX_FRAMES_PER_SECOND = 60

// More than any family offers, but prevents inputs that would occupy a thread for hours.
const MAX_SECONDS = 120

/** For all frames together: 300 frames of 4K, which take a thread two or three minutes. */
const MAX_PIXELS = 2.5e9
