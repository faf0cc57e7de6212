import { accountIn } from '../../schemas/events.ts'
import { fromMicros } from '../domain/money.ts'
import { BEFORE_FIRST, type EventLog } from '../ports/event-log.ts'
import type { Core } from './core.ts'

const caller = { kind: 'service' } as const

/** The identity of the account that the first start opens. */
const OWNER = 'owner@localhost'

/** Models that need nothing but a prompt, the best to begin with first. */
const FIRST_MODELS = ['nano-banana-2', 'gpt-image-2-6', 'z-image-turbo', 'gpt-6-1-terra', 'claude-haiku-4-5']

/**
 * On the very first start: opens an account with a key, and prints the key once with a sample request for one of the
 * models that can be run.
 */
export const welcome = async (
  { config, log, services, reads }: Core,
  url: string,
  models = FIRST_MODELS,
): Promise<void> => {
  if (await hasAccount(log)) return
  const { welcomeMicros } = config
  const opening = { email: OWNER, tester: false, welcomeMicros, key: { name: 'first' } }
  const opened = await services.accounts.open(caller, opening)
  // Another process may make its first start on these stores at the same time; it then prints the key.
  if ('refuse' in opened || opened.value.apiKey === undefined) return
  const { accountId, apiKey } = opened.value
  // Requests are refused until the views show the key. It is printed even if that fails, since there is no second
  // chance.
  await reads.ownWrites(accountId)?.catch(() => undefined)
  const model = FIRST_MODELS.find(each => models.includes(each)) ?? models[0] ?? FIRST_MODELS[0]
  console.log(`
  Welcome to Tollgate. An account with ${fromMicros(welcomeMicros)} credits is open, and this is its API key.
  It is shown only now, so keep it:

    ${apiKey}

  Run a model, and look at the output in the response:

    curl -s ${url}/v1/run -H 'Authorization: Bearer ${apiKey}' \\
      -H 'Content-Type: application/json' \\
      -d '{"model": "${model}", "input": {"prompt": "a quiet mountain lake at sunrise"}}'
`)
}

/** The views cannot tell: they may be empty, or written with another master secret. */
const hasAccount = async (log: EventLog): Promise<boolean> => {
  for await (const page of log.readAll(BEFORE_FIRST)) if (page.some(({ stream }) => accountIn(stream))) return true
  return false
}
