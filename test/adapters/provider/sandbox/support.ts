import { createStudio, type Studio } from '../../../../src/studio/studio.ts'
import { isUnusable, type Made, type Work } from '../../../../src/studio/work.ts'

/** A picture small enough to paint many times. */
export interface Picture {
  prompt: string
  seed: number
  width: number
  height: number
  format: 'png' | 'jpeg' | 'webp'
}

export const small: Picture = { prompt: 'a lake', seed: 1, width: 320, height: 240, format: 'png' }

export const toPaint = ({ seed, format, ...input }: Picture): Work => ({
  craft: 'picture',
  seed,
  input: { ...input, output_format: format },
})

/** A studio for a test file, with a helper for work that must succeed. */
export function openStudio(teardown: (close: () => Promise<void>) => void, threads = 2) {
  const studio = createStudio({ threads })
  teardown(() => studio.close())
  return {
    studio,
    paint: (picture: Picture, signal?: AbortSignal) => paintIn(studio, picture, signal),
    make: (work: Work, signal?: AbortSignal) => makeIn(studio, work, signal),
  }
}

export const paintIn = async (studio: Studio, picture: Picture, signal?: AbortSignal) =>
  (await makeIn(studio, toPaint(picture), signal)).bytes

export async function makeIn(studio: Studio, work: Work, signal?: AbortSignal): Promise<Made> {
  const made = await studio.make(work, signal)
  if (isUnusable(made)) throw new Error(made.unusable)
  return made
}

export function formatOf(bytes: Uint8Array): Picture['format'] | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'webp'
  return undefined
}
