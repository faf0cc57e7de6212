import type { PictureScaler } from '../../../ports/picture-scaler.ts'
import { createStudio, Overrun } from '../../../studio/studio.ts'
import { type Input, isUnusable } from '../../../studio/work.ts'

/** Longer than the largest picture takes on a busy machine. */
const TIME_LIMIT_MS = 20_000

/** Scales pictures in a thread of the studio, which already checks and decodes untrusted pictures. */
export const createSandboxScaler = (): PictureScaler => {
  const studio = createStudio({ threads: 1, timeLimitMs: () => TIME_LIMIT_MS })
  const make = async (source: Uint8Array, input: Input, signal: AbortSignal, customer: string) => {
    try {
      const work = { craft: 'thumbnail', input, seed: 0, source, givesSource: true } as const
      const made = await studio.make(work, signal, customer)
      return isUnusable(made) ? undefined : made.bytes
    } catch (error) {
      if (error instanceof Overrun) return undefined
      throw error
    }
  }
  return {
    scale: (source, maxSide, signal, customer) => make(source, { max_side: maxSide }, signal, customer),
    scaleToWidth: (source, maxWidth, signal, customer) =>
      make(source, { max_side: 4 * maxWidth, max_width: maxWidth, output_format: 'webp' }, signal, customer),
    close: () => studio.close(),
  }
}
