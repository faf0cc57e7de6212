import type { KeyScope } from '../../schemas/actor.ts'
import { IDEMPOTENCY_HOURS } from '../../schemas/primitives.ts'
import { words as http } from '../http/refusals/refusal-words.ts'
import { errorOf } from '../http/refusals/refusals.ts'
import type { Answer } from '../services/answer.ts'
import type { RefusalWords } from '../services/refusal-words.ts'

/** The value of an answer. Throws ApiError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw errorOf(words, answer.refuse)
  return answer.value
}

const REQUEST_NEW_URL = 'Request a new URL with the tool create_upload, and use it unchanged.'

/** The words of every refusal of a tool: those of HTTP, except where they name a route or a header. */
export const words = {
  ...http,

  forbidden: ({ scope }) =>
    scope ? `This API key has the scope "${scope}", so it may ${abilities[scope]}.` : 'You may not do this.',
  model_not_found: ({ model, replacedBy }) =>
    replacedBy === undefined
      ? [
          `There is no model ${JSON.stringify(model)}. The tool list_models returns the models.`,
          'Use the ID or an alias of a family, or the ID of an endpoint.',
        ].join(' ')
      : withdrawn(model, replacedBy),
  model_not_listed: ({ model, replacedBy }) =>
    replacedBy === undefined
      ? `There is no model ${JSON.stringify(model)}. Omit model to list all models.`
      : withdrawn(model, replacedBy),
  model_not_served: ({ endpoint }) =>
    `This service has no provider for ${endpoint} now. list_models shows the available ones; nothing was charged.`,
  idempotency_mismatch: () =>
    [
      `This idempotency_key was used for different arguments in the last ${IDEMPOTENCY_HOURS} hours.`,
      'Use a new one for this call.',
    ].join(' '),
  put_address_invalid: () => `This service did not issue the URL. ${REQUEST_NEW_URL}`,
  put_address_expired: () => `The URL has expired. ${REQUEST_NEW_URL}`,
  put_address_withdrawn: () => `The upload was deleted, or its API key was revoked. ${REQUEST_NEW_URL}`,
} satisfies RefusalWords

const withdrawn = (model: string, replacedBy: string) =>
  `The model ${JSON.stringify(model)} was withdrawn. Use ${replacedBy}, whose parameters list_models returns.`

/** The abilities of keys by scope. */
const abilities: Record<KeyScope, string> = {
  full: 'call every tool',
  read: 'only call read-only tools. For the rest, use a key with the scope "full"',
  keys: 'only manage keys. No tool does that: use a key with the scope "full" or "read"',
}
