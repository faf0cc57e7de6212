import { accountIn } from '../../schemas/events.ts'
import { DEFAULT_NOTICES } from '../domain/account/notices.ts'
import { fromMicros, toMicros } from '../domain/money.ts'
import { BEFORE_FIRST, type EventLog } from '../ports/event-log.ts'
import { curlRun, FIRST_MODELS, firstModel, firstRun } from '../services/catalog/example-request.ts'
import { FIRST_OWNER, FIRST_SIGN_IN_PATH } from '../services/sign-in/first-owner.ts'
import { CODE_MS, makeCode } from '../services/sign-in/one-time-codes.ts'
import { unwrap } from '../transports/refusals.ts'
import type { Config } from './config.ts'
import type { Core } from './core.ts'

const caller = { kind: 'service' } as const

/** The welcome credits pay for only ten pictures. The log records the reason. */
const FIRST_GRANT = {
  amountMicros: toMicros(10_000),
  kind: 'courtesy',
  reference: 'first-start',
  reason: 'first start: credits to try the service with',
} as const

/**
 * On the very first start: opens an account with a key, and prints the key once with a sample request for one of
 * `models`.
 */
export const welcome = async (core: Core, url: string, models = FIRST_MODELS): Promise<void> => {
  const { config, log, services, reads } = core
  if (await hasAccount(log)) return
  const { welcomeMicros, mail } = config
  const key = { name: 'first' }
  const opening = {
    email: FIRST_OWNER.address,
    tester: false,
    welcomeMicros,
    firstGrant: FIRST_GRANT,
    notices: DEFAULT_NOTICES,
    key,
  }
  const opened = await services.accounts.open(caller, opening)
  // Another process with these stores may start for the first time too. Then that process prints the key.
  if ('refuse' in opened || opened.value.apiKey === undefined) return
  const { accountId, apiKey } = opened.value
  // Requests are refused until the views show the key. The key is printed even if the wait fails: it is shown only
  // once.
  await reads.ownWrites(accountId)?.catch(() => undefined)
  // The key is printed even if the link cannot be made.
  const link = await firstLink(core, url).catch(() => `${url}/console/sign-in`)
  const credits = fromMicros(welcomeMicros + FIRST_GRANT.amountMicros).toLocaleString('en')
  console.log(`
  Welcome to Tollgate. An account with ${credits} credits is open, and this is its API key.
  It is shown only now, so keep it:

    ${apiKey}

  Run a model, and look at the output in the response:

    ${curlRun(`${url}/v1/run`, apiKey, firstRun(firstModel(models))).join('\n    ')}

  See what it makes, in the console of this account. The link signs you in once,
  within ${CODE_MS / 60_000} minutes:

    ${link}

  Later, sign in to this account at ${url}/console/sign-in
  with the address ${FIRST_OWNER.address}. ${whereCodeIs(mail)}
`)
}

/** The address of a page that signs the owner in with a one-time code, after a click. */
const firstLink = async (core: Core, url: string): Promise<string> => {
  const codeId = core.random.uuid()
  const code = unwrap(await makeCode(core, caller, { identity: FIRST_OWNER, codeId }))
  return `${url}${FIRST_SIGN_IN_PATH}?${new URLSearchParams({ id: codeId, code })}`
}

const whereCodeIs = (mail: Config['mail']) =>
  mail.kind === 'outbox'
    ? `The code is then in the newest file in ${mail.folder}.`
    : 'Your mail server must deliver the code to it.'

/** The log decides, since the views may be empty or may have been written with another master secret. */
const hasAccount = async (log: EventLog): Promise<boolean> => {
  for await (const page of log.readAll(BEFORE_FIRST)) if (page.some(({ stream }) => accountIn(stream))) return true
  return false
}
