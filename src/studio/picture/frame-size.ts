import { type Input, textIn } from '../work.ts'
import { chooseAspectRatio, isDocumented, type PictureSize, pictureSize } from './picture-size.ts'

/**
 * The pixel size of an image, from whichever parameters its family has: `width` and `height`, a `size` such as
 * `1024x1536`, or `resolution` (`2K`, `0.5 MP`) and `aspect_ratio`. By default it has the aspect ratio of its source.
 */
export function stillSize(input: Input, source?: PictureSize): PictureSize {
  const exact = exactSize(input)
  if (exact) return exact
  const aspectRatio = namedRatio(input) ?? (source ? `${source.width}:${source.height}` : freeRatio(input))
  const resolution = textIn(input, 'resolution') || '1K'
  const named = { aspectRatio, resolution }
  if (isDocumented(named)) return pictureSize(named.aspectRatio, named.resolution)
  const side = Math.sqrt(areaOf(resolution))
  const ratio = clamp(1 / MAX_STILL_RATIO, quotient(aspectRatio), MAX_STILL_RATIO)
  return { width: multipleOf(16, side * Math.sqrt(ratio)), height: multipleOf(16, side / Math.sqrt(ratio)) }
}

/** The pixel size of a film: `resolution` (`720p`, `4K`) is its shorter side. H.264 needs even sides. */
export function filmSize(input: Input, source?: PictureSize): PictureSize {
  const exact = exactSize(input)
  const ratio = clamp(
    1 / MAX_FILM_RATIO,
    exact
      ? exact.width / exact.height
      : quotient(namedRatio(input) ?? (source ? `${source.width}:${source.height}` : '16:9')),
    MAX_FILM_RATIO,
  )
  const short = exact ? Math.min(exact.width, exact.height) : linesOf(textIn(input, 'resolution'))
  const shrink = Math.min(1, Math.sqrt(MAX_FILM_PIXELS / (short * short * Math.max(ratio, 1 / ratio))))
  return {
    width: multipleOf(2, short * shrink * Math.max(1, ratio)),
    height: multipleOf(2, short * shrink * Math.max(1, 1 / ratio)),
  }
}

function exactSize(input: Input): PictureSize | undefined {
  const { width, height } = input
  if (typeof width === 'number' && typeof height === 'number') return { width, height }
  const named = /^(\d{2,4})[x×*](\d{2,4})$/.exec(textIn(input, 'size') || textIn(input, 'image_size'))
  return named ? { width: Number(named[1]), height: Number(named[2]) } : undefined
}

/** `16:9`, and not `auto` or `match_input_image`. */
const namedRatio = (input: Input) => /^[1-9]\d*:[1-9]\d*$/.exec(textIn(input, 'aspect_ratio'))?.[0]

/** The prompt chooses the ratio only for an explicit `auto`. */
const freeRatio = (input: Input) =>
  input['aspect_ratio'] === 'auto' || input['size'] === 'auto' ? chooseAspectRatio(textIn(input, 'prompt')) : '1:1'

function quotient(ratio: string): number {
  const [width = 1, height = 1] = ratio.split(':').map(Number)
  return width / height
}

/** `2K` is the area of a square of 2048 pixels, and `0.5 MP` is half a million of them. */
function areaOf(resolution: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?) ?(K|MP)$/i.exec(resolution) ?? []
  if (unit === undefined) return 1024 ** 2
  return unit.toUpperCase() === 'MP' ? Number(amount) * 1e6 : (Number(amount) * 1024) ** 2
}

/** `720p` counts lines; `4K` is 2160 lines. */
function linesOf(resolution: string): number {
  const [, amount, unit] = /^(\d+)(p|K)$/i.exec(resolution) ?? []
  if (unit === undefined) return 720
  return unit.toLowerCase() === 'p' ? Number(amount) : (Number(amount) * 2160) / 4
}

const clamp = (min: number, value: number, max: number) => Math.min(max, Math.max(min, value))

const multipleOf = (step: number, value: number) => Math.max(step, Math.round(value / step) * step)

// The most elongated ratio of any family. A source may be a strip a single pixel high.
const MAX_STILL_RATIO = 8
const MAX_FILM_RATIO = 4

/** The limit of H.264 level 5.1: 36,864 macroblocks of 16 by 16 pixels. */
const MAX_FILM_PIXELS = 36_864 * 256
