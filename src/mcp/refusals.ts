import type { KeyScope } from '../../schemas/actor.ts'
import { IDEMPOTENCY_HOURS } from '../../schemas/primitives.ts'
import type { Answer } from '../services/answer.ts'
import { mayOnly } from '../transports/refusals/keys.ts'
import { type RefusalMessages, unwrap as unwrapWith } from '../transports/refusals.ts'

/** The value of an answer. Throws ApiError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => unwrapWith(answer, messages)

const REQUEST_NEW_URL = 'Request a new URL with the tool create_upload, and use it unchanged.'

/** The messages that name a tool or an argument. In HTTP, these messages name a route or a header. */
export const messages: RefusalMessages = {
  forbidden: ({ scope }) => mayOnly(scope, abilities),
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
    `This service has no provider for ${endpoint} now. list_models lists available models. Nothing was charged.`,
  idempotency_mismatch: () =>
    [
      `This idempotency_key was used for different arguments in the last ${IDEMPOTENCY_HOURS} hours.`,
      'Use a new one for this call.',
    ].join(' '),
  put_address_invalid: () => `This service did not issue the URL. ${REQUEST_NEW_URL}`,
  put_address_expired: () => `The URL has expired. ${REQUEST_NEW_URL}`,
  put_address_withdrawn: () => `The upload was deleted, or its API key was revoked. ${REQUEST_NEW_URL}`,
}

const withdrawn = (model: string, replacedBy: string) =>
  `The model ${JSON.stringify(model)} was withdrawn. Use ${replacedBy}, whose parameters list_models returns.`

/** The abilities of keys by scope. */
const abilities: Record<KeyScope, string> = {
  full: 'call every tool',
  read: 'call only read-only tools. For other tools, use a key with the scope "full"',
  keys: 'only manage keys, which no tool does. To call tools, use a key with the scope "full" or "read"',
}
