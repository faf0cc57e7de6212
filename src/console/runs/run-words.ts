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

/** The title of a run: what was asked for. Undefined for inputs without such a text. */
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
