import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunErrorCode } from '../../../../schemas/account-events.ts'
import type { Job, Media, Outcome, Provider } from '../../../ports/provider.ts'
import type { Picture } from './paint.ts'
import { createPainter, type Painter } from './painter.ts'
import { type AspectRatio, chooseAspectRatio, pictureSize, type Resolution } from './picture-size.ts'
import { hashText } from './random.ts'

/** Stands in for the vendors: real media of the promised kind and size, made here, deterministic for a seed. */
export const createSandboxProvider = (): Provider => {
  // Drawing takes all that a core has, and one core is left to the service.
  const painter = createPainter({ threads: Math.max(1, availableParallelism() - 1) })
  return {
    submit: (job, signal) => (job.endpoint.endsWith('-t2t') ? behave(job, signal) : paintAll(painter, job, signal)),
    close: () => painter.close(),
  }
}

const paintAll = async (painter: Painter, { runId, input }: Job, signal: AbortSignal): Promise<Outcome> => {
  const prompt = String(input['prompt'])
  const ratio = input['aspect_ratio'] === 'auto' ? chooseAspectRatio(prompt) : (input['aspect_ratio'] as AspectRatio)
  const size = pictureSize(ratio, input['resolution'] as Resolution)
  const format = input['output_format'] as Picture['format']
  // Without a seed every run is another picture, and the same run always the same one.
  const seed = typeof input['seed'] === 'number' ? input['seed'] : hashText(runId)
  const pictures = Array.from({ length: Number(input['num_images']) }, async (_, index): Promise<Media> => {
    const bytes = await painter.paint({ prompt, seed: seed + index, ...size, format }, signal)
    return { mimeType: `image/${format}`, bytes }
  })
  return { kind: 'done', media: await Promise.all(pictures) }
}

/** Does what the test family's input asks for. */
const behave = async ({ input }: Job, signal: AbortSignal): Promise<Outcome> => {
  const { prompt, delay_ms: delayMs, outcome } = input
  if (delayMs) await delay(Number(delayMs), undefined, { signal })
  switch (outcome) {
    case 'success':
      return { kind: 'done', media: [], text: `Sandbox heard: ${prompt}` }
    case 'break':
      throw new Error('the sandbox was asked to break')
    case 'hang':
      return new Promise(() => undefined)
    default:
      return {
        kind: 'failed',
        code: outcome as RunErrorCode,
        message: `The sandbox was asked to fail with ${outcome}.`,
      }
  }
}
