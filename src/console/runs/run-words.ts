import type { Run } from '../../../schemas/api/run.ts'
import { decimal } from '../parts/text.ts'

/** The names of providers as they write them. */
const PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  elevenlabs: 'ElevenLabs',
  fal: 'fal',
  google: 'Google',
  openai: 'OpenAI',
  replicate: 'Replicate',
  sandbox: 'Sandbox',
}

export const providerName = (provider: string): string => PROVIDERS[provider] ?? provider

const FAILURES: Record<NonNullable<Run['error']>['code'], string> = {
  model_not_found: 'The model is gone',
  content_rejected: 'Refused by the provider',
  provider_error: 'The provider failed',
  provider_timeout: 'The provider took too long',
  interrupted: 'Interrupted',
  invalid_input: 'The input could not be used',
  cancelled: 'Cancelled',
}

/** Why a run failed, in a few words. */
export const failureOf = ({ error }: Pick<Run, 'error'>): string => (error ? FAILURES[error.code] : 'Failed')

/** The reason of a refund, in the same words if it is a failure. */
export const refundReasonOf = (reason: string): string => {
  const [, code = ''] = /^the run failed: (\w+)$/.exec(reason) ?? []
  return Object.hasOwn(FAILURES, code) ? FAILURES[code as keyof typeof FAILURES] : reason
}

/** What came back: `15 credits refunded`. */
export const refundOf = ({ credits_refunded: refunded, livemode }: Run): string =>
  livemode ? `${creditsOf(refunded ?? 0)} refunded` : 'a test run costs nothing'

/** `1 credit`, `31.5 credits`. */
export const creditsOf = (credits: number): string => `${decimal(credits)} credit${credits === 1 ? '' : 's'}`

/** The state of a run in words, with the class of its badge. */
export const statusOf = ({ status, error }: Pick<Run, 'status' | 'error'>): { word: string; tone: string } =>
  error?.code === 'cancelled' ? { word: 'Cancelled', tone: '' } : STATUSES[status]

const STATUSES: Record<Run['status'], { word: string; tone: string }> = {
  queued: { word: 'Waiting', tone: '' },
  processing: { word: 'In progress', tone: 'warn' },
  completed: { word: 'Completed', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
}

/** Characters of what was asked for, as the title of a run. */
const MAX_TITLE = 60

/** The title of a run: the beginning of what was asked for, or its model. */
export const titleOf = ({ run: { input }, modelName }: { run: Pick<Run, 'input'>; modelName: string }): string => {
  const prompt = promptOf(input)
  return prompt === undefined ? `A run of ${modelName}` : beginningOf(prompt, MAX_TITLE)
}

/** The beginning of a text, which ends at a word: `A long and careful…`. */
export const beginningOf = (text: string, maxLength: number): string => {
  const characters = [...text]
  if (characters.length <= maxLength) return text
  const start = characters.slice(0, maxLength).join('')
  const end = start.search(/\s\S*$/)
  // A script without spaces, or a long address, ends anywhere.
  const whole = end > maxLength / 2 ? start.slice(0, end) : start
  return `${whole.replace(/[\s.,;:]$/, '')}…`
}

/** What was asked for. Undefined for inputs without such a text. */
export const promptOf = (input: Run['input']): string | undefined => {
  for (const name of ['prompt', 'text', 'instructions', 'input'])
    if (typeof input?.[name] === 'string' && input[name] !== '') return input[name]
  const messages = input?.['messages']
  if (!Array.isArray(messages)) return undefined
  const last = messages.findLast(message => message?.role === 'user')?.content
  if (typeof last === 'string') return last
  const part = Array.isArray(last) ? last.find(each => typeof each?.text === 'string') : undefined
  return part?.text
}
