import type { AccountRow } from '../../schemas/views.ts'
import type { Spender } from '../../src/services/runs/runs.ts'
import { errorOf, post, request } from '../mcp/support.ts'
import { BrowserClient } from './browser-client.ts'
import { formOf, formType, imagePart, textPart } from './multipart.ts'
import { picture } from './sample-files.ts'
import type { Customer, startService } from './service.ts'

/** The status, and the code of an error. A tool has no status of its own. */
export interface Answer {
  status: number | undefined
  code: string | undefined
}

/** What a request may say about its own charge. */
export interface Ceiling {
  budget?: string
  max_credits?: number
}

const postTo =
  (path: string, body: object) =>
  async (customer: Customer, ceiling: Ceiling = {}): Promise<Answer> => {
    const { status, body: answer } = await customer.post<{ error?: { code: string } }>(path, { ...body, ...ceiling })
    return { status, code: answer.error?.code }
  }

const messages = [{ role: 'user', content: 'hello' }]

/** Every way to spend credits of a service. A further one does not compile without a row. */
export const spendersOf = async (service: Awaited<ReturnType<typeof startService>>) => {
  const png = await picture('png')
  const browsers = new Map<string, BrowserClient>()

  /** The browser of an account's owner, who is signed in and sees the playground. */
  const browserOf = async ({ accountId }: Customer) => {
    const known = browsers.get(accountId)
    if (known) return known
    const browser = new BrowserClient(service.url)
    const row = await service.core.views.get<AccountRow>('accounts', accountId)
    await browser.signIn(service, row?.email ?? '')
    await browser.get('/console/playground')
    browsers.set(accountId, browser)
    return browser
  }

  const spenders: Record<Spender, (customer: Customer, ceiling?: Ceiling) => Promise<Answer>> = {
    runModel: postTo('/v1/run', { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }),
    createChatCompletion: postTo('/v1/chat/completions', { model: 'gpt-6-1-terra', messages }),
    createResponse: postTo('/v1/responses', { model: 'gpt-6-1-terra', input: 'hello' }),
    generateImages: postTo('/v1/images/generations', { model: 'nano-banana-2', prompt: 'hello' }),
    editImages: async (customer, ceiling = {}) => {
      const parts = Object.entries(ceiling).map(([name, value]) => textPart(name, String(value)))
      const { status, body } = await customer.send<{ error?: { code: string } }>('/v1/images/edits', {
        method: 'POST',
        headers: { 'Content-Type': formType },
        body: formOf(imagePart(png), textPart('model', 'nano-banana-2'), textPart('prompt', 'hello'), ...parts),
      })
      return { status, code: body.error?.code }
    },
    createSpeech: postTo('/v1/audio/speech', { model: 'eleven-v3', input: 'hello', voice: 'Rachel' }),
    playground: async customer => {
      const browser = await browserOf(customer)
      const form = { model: 'nano-banana-2', shown: 'json', json: '{"prompt":"hello"}' }
      const { status, text } = await browser.post('/console/playground', form, { Accept: 'application/json' })
      return { status, code: status === 303 ? undefined : JSON.parse(text).error?.code }
    },
    run_model: async (customer, ceiling) => {
      const run = { model: 'nano-banana-2', input: { prompt: 'hello' }, ...ceiling }
      const params = { name: 'run_model', arguments: run }
      const { status, message } = await post(customer, request('2025-11-25', 'tools/call', params))
      const { error, result } = message
      if (!result) return { status, code: error.code }
      return { status: undefined, code: result.isError ? errorOf(result).code : undefined }
    },
  }

  return { spenders, browserOf }
}

/** The owners of accounts have no key, so limits of keys do not concern them. */
export const withoutKey: Spender[] = ['playground']

/**
 * Whether a request can name a budget and a ceiling of its own. OpenAI's shapes have no place for them, and refuse
 * unknown fields. The playground's form ignores them.
 */
export const ceilings: Record<Spender, 'held' | 'refused' | 'ignored'> = {
  ...{ runModel: 'held', run_model: 'held', playground: 'ignored', editImages: 'refused' },
  ...{ createChatCompletion: 'refused', createResponse: 'refused' },
  ...{ generateImages: 'refused', createSpeech: 'refused' },
}
