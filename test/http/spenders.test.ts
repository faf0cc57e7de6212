import t from 'tap'
import type { AccountLimits } from '../../schemas/account-events.ts'
import type { ErrorCode } from '../../schemas/api/error.ts'
import type { AccountRow } from '../../schemas/views.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { NewKey } from '../../src/services/accounts/api-keys.ts'
import type { Spender } from '../../src/services/runs/runs.ts'
import { errorOf, post, request } from '../mcp/support.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { caughtUp } from '../support/caught-up.ts'
import { doneFor } from '../support/done.ts'
import { formOf, formType, imagePart, textPart } from '../support/multipart.ts'
import { picture } from '../support/sample-files.ts'
import { type Customer, openAccount, openKey, startService } from '../support/service.ts'
import { speakingProvider } from '../support/speaking-provider.ts'
import { unwrap } from '../support/unwrap.ts'

const { provider, nextCall, calls } = speakingProvider()
const png = await picture('png')
const service = await startService(t, { providers: { sandbox: provider } })
const { accounts, keys } = service.core.services
const operator = { kind: 'operator', name: 'test' } as const

/** The status, and the code of an error. A tool has no status of its own. */
interface Answer {
  status: number | undefined
  code: string | undefined
}

/** What a request may say about its own charge. */
interface Ceiling {
  budget?: string
  max_credits?: number
}

const postTo =
  (path: string, body: object) =>
  async (customer: Customer, ceiling: Ceiling = {}): Promise<Answer> => {
    const { status, body: answer } = await customer.post<{ error?: { code: string } }>(path, { ...body, ...ceiling })
    return { status, code: answer.error?.code }
  }

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

const messages = [{ role: 'user', content: 'hello' }]

/** Every way to spend credits. A further one does not compile without a row. */
const spenders: Record<Spender, (customer: Customer, ceiling?: Ceiling) => Promise<Answer>> = {
  runModel: postTo('/v1/run', { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }),
  createChatCompletion: postTo('/v1/chat/completions', { model: 'gpt-6-1-terra', messages }),
  createResponse: postTo('/v1/responses', { model: 'gpt-6-1-terra', input: 'hello' }),
  generateImages: postTo('/v1/images/generations', { model: 'nano-banana-2', prompt: 'hello' }),
  editImages: async customer => {
    const { status, body } = await customer.send<{ error?: { code: string } }>('/v1/images/edits', {
      method: 'POST',
      headers: { 'Content-Type': formType },
      body: formOf(imagePart(png), textPart('model', 'nano-banana-2'), textPart('prompt', 'hello')),
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

/** A customer whose key has limits. */
const withKey = async (limits: Omit<NewKey, 'name'>) => openKey(service, await openAccount(service), limits)

const withLimits = async (limits: AccountLimits) => {
  const customer = await openAccount(service)
  unwrap(await accounts.setLimits(operator, customer.accountId, limits))
  return customer
}

const forbidden = { status: 403, code: 'forbidden', ofKey: true } as const

/** The owners of accounts have no key, so limits of keys do not concern them. */
const withoutKey: Spender[] = ['playground']

/**
 * Whether a request can name a budget and a ceiling of its own. OpenAI's shapes have no place for them: those in JSON
 * refuse unknown fields, and forms ignore them.
 */
const ceilings: Record<Spender, 'held' | 'refused' | 'ignored'> = {
  ...{ runModel: 'held', run_model: 'held', playground: 'ignored', editImages: 'ignored' },
  ...{ createChatCompletion: 'refused', createResponse: 'refused' },
  ...{ generateImages: 'refused', createSpeech: 'refused' },
}

interface Limit {
  arrange: () => Promise<Customer>
  status: number
  code: ErrorCode
  ofKey?: true
  /** What each request says, for limits that are a request's own. */
  ceiling?: Ceiling
}

/** Every limit: a customer who has reached it, and what the next request gets. */
const limits: Record<string, Limit> = {
  balance: {
    arrange: () => openAccount(service, { credits: 0.001 }),
    ...{ status: 402, code: 'insufficient_credits' },
  },
  'budget of the key': {
    arrange: () => withKey({ budget: { amountMicros: toMicros(0.001), period: 'day' } }),
    ...{ status: 402, code: 'budget_exceeded', ofKey: true },
  },
  'a named budget': {
    arrange: async () => {
      const customer = await openAccount(service)
      t.equal((await customer.post('/v1/budgets', { name: 'task', credits: 0.001 })).status, 201)
      return customer
    },
    ceiling: { budget: 'task' },
    ...{ status: 402, code: 'budget_exceeded' },
  },
  'a budget that does not exist': {
    arrange: () => openAccount(service),
    ceiling: { budget: 'none' },
    ...{ status: 400, code: 'budget_not_found' },
  },
  max_credits: {
    arrange: () => openAccount(service),
    ceiling: { max_credits: 0.001 },
    ...{ status: 400, code: 'price_above_limit' },
  },
  'models of the key': { arrange: () => withKey({ models: ['veo-3-1'] }), ...forbidden },
  'addresses of the key': { arrange: () => withKey({ addresses: ['192.0.2.0/24'] }), ...forbidden },
  'scope of the key': { arrange: () => withKey({ scope: 'read' }), ...forbidden },
  'a revoked key': {
    arrange: async () => {
      const customer = await withKey({})
      unwrap(await keys.revoke(operator, customer.accountId, customer.keyId))
      await caughtUp(service.core)
      return customer
    },
    ...{ status: 401, code: 'invalid_api_key', ofKey: true },
  },
  suspension: {
    arrange: async () => {
      const customer = await openAccount(service)
      // Nobody signs in to a suspended account.
      await browserOf(customer)
      unwrap(await accounts.suspend(operator, customer.accountId, 'unpaid'))
      return customer
    },
    ...{ status: 403, code: 'account_suspended' },
  },
  'requests a minute': {
    arrange: async () => {
      const customer = await withLimits({ requestsPerMinute: 1 })
      await customer.send('/v1/models')
      return customer
    },
    ...{ status: 429, code: 'rate_limited' },
  },
  'runs in flight': {
    arrange: async () => {
      const customer = await withLimits({ runsInFlight: 1 })
      void customer.run({ model: 'nano-banana-2', input: { prompt: 'first' } }).catch(() => undefined)
      await nextCall()
      return customer
    },
    ...{ status: 429, code: 'rate_limited' },
  },
}

for (const [spender, spend] of Object.entries(spenders)) {
  t.test(`${spender} spends credits`, async t => {
    const customer = await openAccount(service)
    const spent = spend(customer)
    const { job, end } = await nextCall()
    end(doneFor(job))
    t.same((await spent).code, undefined)
    t.ok((await customer.balance()) < 100)
  })

  for (const [limit, { arrange, status, code, ofKey, ceiling }] of Object.entries(limits)) {
    if (ofKey && withoutKey.includes(spender as Spender)) continue
    const isHeld = ceiling === undefined || ceilings[spender as Spender] === 'held'
    if (ceiling && ceilings[spender as Spender] === 'ignored') continue
    t.test(`${spender} holds to the limit: ${limit}`, async t => {
      const customer = await arrange()
      const before = (await service.core.accounts.state(customer.accountId)).balanceMicros
      const answer = await spend(customer, ceiling)
      t.same(answer.code, isHeld ? code : 'invalid_input')
      if (answer.status !== undefined) t.equal(answer.status, isHeld ? status : 400)
      t.equal((await service.core.accounts.state(customer.accountId)).balanceMicros, before)
      t.equal(calls.length, 0, 'no provider is asked')
    })
  }
}
