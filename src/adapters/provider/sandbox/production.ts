import { filesIn } from '../../../domain/catalog/inputs.ts'
import { countTokens } from '../../../domain/catalog/tokens.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type InputFile, type InputMedia, InputMediaError, type UseInputMedia } from '../../../ports/input-media.ts'
import type { Done, Failed, ProviderOutcome } from '../../../ports/provider.ts'
import { answer, requiredCall, thoughts } from '../../../studio/answer.ts'
import { Overrun, type Studio } from '../../../studio/studio.ts'
import { isUnusable, type Made, type Unusable, type Work } from '../../../studio/work.ts'
import { delay } from '../../../time/timers.ts'
import { isLong, orderFor, type SandboxJob } from './order.ts'

interface ProductionDependencies {
  studio: Studio
  useInputMedia: UseInputMedia
  clock: Clock
}

/** Runs a job from input to outcome. The studio updates `progress`. */
export async function produce(
  { studio, useInputMedia, clock }: ProductionDependencies,
  job: SandboxJob,
  signal: AbortSignal,
  progress?: Float32Array,
): Promise<ProviderOutcome> {
  const { runId, accountId } = job
  const order = orderFor(job)
  if (order.craft === 'answer') return writeAnswer(clock, job, order.seed, signal)
  try {
    const make = (work: Work) => studio.make({ ...work, ...(progress && { progress }) }, signal, accountId)
    const makeAll = () => Promise.all(order.works.map(make))
    // All images of an order share one source. They are made one after another, because each image except the last
    // copies the source.
    const makeFrom = async ({ bytes: source }: InputMedia) => {
      const results: (Made | Unusable)[] = []
      for (const work of order.works)
        results.push(await make({ ...work, source, givesSource: work === order.works.at(-1) }))
      return results
    }
    const common = { runId, accountId, isLong: isLong(order) }
    const useFiles = (use: (media: InputMedia) => Promise<(Made | Unusable)[]>) => {
      const [first, ...further] = filesOf(job.input)
      return useInputMedia({ ...common, ...(first ?? { url: '' }), further }, signal, use)
    }
    // A video is only checked, because the studio cannot read it.
    const results = await (order.source ? useFiles(order.source === 'image' ? makeFrom : makeAll) : makeAll())
    const media: Made[] = []
    for (const result of results) {
      if (isUnusable(result)) return invalidInput(result.unusable)
      media.push(result)
    }
    const text = thoughts(job.input, order.seed)
    return { kind: 'done', media, ...(text !== undefined && { text }) }
  } catch (error) {
    if (error instanceof InputMediaError) return invalidInput(`${error.parameter}: ${error.message}`)
    if (error instanceof Overrun) return overrun(error, order.source === 'image')
    throw error
  }
}

/** Writes about as fast as a model. */
const WORDS_PER_PIECE = 3
const PIECE_MS = 30

/** Answers in text, a few words at a time if somebody wants them as they arrive. */
async function writeAnswer(
  clock: Clock,
  { runId, input, onText }: SandboxJob,
  seed: number,
  signal: AbortSignal,
): Promise<Done> {
  const call = requiredCall(input, runId)
  if (call) return { kind: 'done', media: [], toolCalls: [call], work: { units: unitsOf(input, '', [call]) } }
  const { text, isCut } = answer(input, seed)
  for (const piece of onText ? piecesOf(text, WORDS_PER_PIECE) : []) {
    await delay(clock, PIECE_MS, signal)
    signal.throwIfAborted()
    onText?.(piece)
  }
  const work = { units: unitsOf(input, text) }
  return { kind: 'done', media: [], text, ...(isCut && { finish: 'length' }), work }
}

function unitsOf(...answered: Parameters<typeof countTokens>): Record<string, number> {
  const { input, output } = countTokens(...answered)
  return { input_tokens: input, output_tokens: output }
}

/** The pieces of a text, with so many words each. */
export const piecesOf = (text: string, words: number): string[] => {
  const each = text.match(/\s*\S+\s*/g) ?? [text]
  return each.flatMap((_, at) => (at % words === 0 ? each.slice(at, at + words).join('') : []))
}

/** The files of an input. The film starts with the first one. */
const filesOf = (input: SandboxJob['input']): InputFile[] =>
  filesIn(input).map(({ url, place }) => ({ url, parameter: place }))

const invalidInput = (message: string): Failed => ({ kind: 'failed', code: 'invalid_input', message })

/** Not retryable, because the same work would take as long again. */
function overrun({ of }: Overrun, hasSource: boolean): Failed {
  if (hasSource && of === 'memory')
    return invalidInput('The image at image_url takes too much memory; save it again with an image editor.')
  const code = of === 'time' ? 'provider_timeout' : 'provider_error'
  return { kind: 'failed', code, message: `The sandbox needs too much ${of} for this.` }
}
