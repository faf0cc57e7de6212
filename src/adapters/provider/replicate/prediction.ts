import type { Media, ProviderOutcome, Work, Working } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import { isFileAddress, outputFile } from '../output-file.ts'
import { valuesAt } from '../output-path.ts'
import { jobFailed } from '../upstream-call.ts'
import { isRejected } from './failures.ts'

/** An account may make 3,000 requests a minute: https://replicate.com/docs/topics/predictions/rate-limits */
const MIN_POLL_MS = 1_000
const MAX_POLL_MS = 10_000

/** A prediction as the API describes it: https://replicate.com/docs/reference/http#predictions.get */
export interface Prediction {
  id: string
  status: string
  version: unknown
  output: unknown
  error: unknown
  metrics: unknown
  createdAt: unknown
}

const ID = /^\w[\w-]{0,254}$/

/** Throws if the response is not a prediction. */
export const predictionOf = (answer: unknown): Prediction => {
  const { id, status, version, output, error, metrics, created_at } = (answer ?? {}) as Record<string, unknown>
  if (typeof id !== 'string' || !ID.test(id) || typeof status !== 'string')
    throw new Error('Replicate sent no prediction')
  return { id, status, version, output, error, metrics, createdAt: created_at }
}

/** The states: https://replicate.com/docs/topics/predictions/lifecycle */
export const outcomeOf = (
  prediction: Prediction,
  path: string | undefined,
  files: LargeFiles,
): ProviderOutcome | Working => {
  switch (prediction.status) {
    case 'succeeded':
      return { ...resultOf(prediction.output, path, files), work: workOf(prediction) }
    case 'failed':
      return {
        ...jobFailed(isRejected(prediction.error) ? 'content_rejected' : 'provider_error'),
        work: workOf(prediction),
      }
    case 'canceled':
    case 'aborted':
      return { ...jobFailed('provider_error'), work: workOf(prediction) }
    case 'starting':
      return { kind: 'working', pollAfterMs: pollAfterMs(prediction), progress: 0 }
    default:
      return { kind: 'working', pollAfterMs: pollAfterMs(prediction) }
  }
}

/** Polls become rarer as a prediction takes longer, so that an account can have hundreds of predictions at a time. */
export const pollAfterMs = ({ createdAt }: Prediction): number => {
  const ageMs = typeof createdAt === 'string' ? Date.now() - Date.parse(createdAt) : 0
  return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, ageMs / 10 || 0))
}

/** An output is an address, a list of addresses, or text, possibly in pieces. Its form decides, unless `path` does. */
const resultOf = (output: unknown, path: string | undefined, files: LargeFiles): ProviderOutcome => {
  if (path !== undefined && path !== TEXT)
    return filesOf(
      valuesAt(output, path).map(({ value }) => value),
      files,
    )
  const pieces = textsOf(output)
  if (path === undefined && pieces.every(isFileAddress)) return filesOf(pieces, files)
  const text = pieces.join('')
  return text === '' ? jobFailed('provider_error') : { kind: 'done', media: [], text }
}

/** The path of an output that is text, even if it reads like an address. */
export const TEXT = 'text'

const textsOf = (output: unknown): string[] =>
  [output].flat().filter((piece): piece is string => typeof piece === 'string')

const filesOf = (addresses: unknown[], files: LargeFiles): ProviderOutcome => {
  const media = addresses.map(address => outputFile(address, files)).filter((file): file is Media => file !== undefined)
  return media.length === 0 ? jobFailed('provider_error') : { kind: 'done', media }
}

/** An official model has no version. */
const workOf = ({ version, metrics }: Prediction): Work => ({
  ...(typeof version === 'string' && version !== 'hidden' && { version }),
  units: Object.fromEntries(
    Object.entries(metrics ?? {}).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  ),
})
