import { type InputMedia, InputMediaError, type LoadInputMedia } from '../../../ports/input-media.ts'
import type { Failed, Job, ProviderOutcome } from '../../../ports/provider.ts'
import { answer } from '../../../studio/answer.ts'
import type { Studio } from '../../../studio/studio.ts'
import { isUnusable, type Made, textIn } from '../../../studio/work.ts'
import { orderFor } from './order.ts'

export interface ProductionParts {
  studio: Studio
  loadInputMedia: LoadInputMedia
}

/** Runs a job from input to outcome. The studio updates `progress`. */
export async function produce(
  { studio, loadInputMedia }: ProductionParts,
  job: Job,
  signal: AbortSignal,
  progress?: Float32Array,
): Promise<ProviderOutcome> {
  const order = orderFor(job)
  if (order.craft === 'answer') return { kind: 'done', media: [], text: answer(job.input, order.seed) }
  try {
    let source: Promise<InputMedia> | undefined
    const loadSource = async () => {
      // All images of an order share one source.
      source ??= loadInputMedia(textIn(job.input, 'image_url'), signal)
      return (await source).bytes
    }
    const results = await Promise.all(
      order.works.map(work =>
        studio.make({ ...work, ...(progress && { progress }) }, signal, order.needsSource ? loadSource : undefined),
      ),
    )
    const media: Made[] = []
    for (const result of results) {
      if (isUnusable(result)) return invalidInput(result.unusable)
      media.push(result)
    }
    return { kind: 'done', media }
  } catch (error) {
    if (error instanceof InputMediaError) return invalidInput(`image_url: ${error.message}`)
    throw error
  }
}

const invalidInput = (message: string): Failed => ({ kind: 'failed', code: 'invalid_input', message })
