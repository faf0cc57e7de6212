import type { PictureScaler } from '../../../ports/picture-scaler.ts'
import { createStudio, Overrun } from '../../../studio/studio.ts'
import { isUnusable } from '../../../studio/work.ts'

/** Longer than the largest picture takes on a busy machine. */
const TIME_LIMIT_MS = 20_000

/** Scales pictures in a thread of the studio, which already checks and decodes untrusted pictures. */
export const createSandboxScaler = (): PictureScaler => {
  const studio = createStudio({ threads: 1, timeLimitMs: () => TIME_LIMIT_MS })
  return {
    scale: async (source, maxSide, signal, customer) => {
      const work = { craft: 'thumbnail', input: { max_side: maxSide }, seed: 0, source, givesSource: true } as const
      try {
        const made = await studio.make(work, signal, customer)
        return isUnusable(made) ? undefined : made.bytes
      } catch (error) {
        if (error instanceof Overrun) return undefined
        throw error
      }
    },
    close: () => studio.close(),
  }
}
