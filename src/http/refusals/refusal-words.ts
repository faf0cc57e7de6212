import type { KeyScope } from '../../../schemas/actor.ts'
import { IDEMPOTENCY_HOURS } from '../../../schemas/primitives.ts'
import { fromMicros } from '../../domain/money.ts'
import { fileFault, type RefusalWords, sharedWords, urlFaults } from '../../services/refusal-words.ts'
import { acceptedTypes } from '../../services/uploads/upload-rules.ts'

const REQUEST_NEW_URL = 'Request a new URL with POST /v1/uploads/presigned, and use it unchanged.'

/** The words of every refusal over HTTP. Today no client can cause some of them. */
export const words = {
  ...sharedWords,

  forbidden: ({ scope }) =>
    scope ? `This API key has the scope "${scope}", so it may ${abilities[scope]}.` : 'You may not do this.',

  account_not_found: () => 'There is no such account.',

  key_not_found: () => 'The account has no such active key.',
  auditor_not_found: () => 'There is no such active auditor.',
  key_revoked: () => 'This API key was revoked.',

  reference_mismatch: () => 'This reference was used for a different amount. Use a new one.',

  model_not_found: ({ model, replacedBy }) =>
    replacedBy === undefined
      ? [
          `There is no model ${JSON.stringify(model)}. GET /v1/models returns the models.`,
          'Use the ID or an alias of a family, or the ID of an endpoint.',
        ].join(' ')
      : `The model ${JSON.stringify(model)} was withdrawn. Use ${replacedBy}; see GET /v1/models/${replacedBy}.`,
  model_not_listed: ({ model, replacedBy }) =>
    replacedBy === undefined
      ? `There is no model ${JSON.stringify(model)}. GET /v1/models returns the models.`
      : `The model ${JSON.stringify(model)} was withdrawn. Use ${replacedBy}.`,
  model_not_served: ({ endpoint }) =>
    `This service has no provider for ${endpoint} now. GET /v1/models shows the available ones; nothing was charged.`,
  kind_not_offered: ({ model, kinds }) =>
    [
      `${model} has only these kinds: ${kinds.join(', ')}.`,
      'An input with video_url selects a video-to-* kind, one with image_url an image-to-* kind,',
      'any other a text-to-* kind.',
    ].join(' '),
  input_invalid: ({ endpoint }) => `The input does not match the parameters_schema of ${endpoint}.`,
  input_file_refused: ({ parameter, reason }): string =>
    `${parameter} cannot be used. ${fileFault(words, parameter, reason)}`,
  webhook_url_invalid: ({ parameter, fault }) => `${parameter} ${urlFaults[fault]}.`,

  insufficient_credits: ({ requiredMicros, balanceMicros, grantTo }) =>
    [
      `The run costs ${fromMicros(requiredMicros)} credits and the balance is ${fromMicros(balanceMicros)}.`,
      grantTo === undefined
        ? 'Choose a cheaper model or input, or ask the operator of the service for credits.'
        : `To add credits, run this in the folder of Tollgate: ${grantCommand(grantTo)}`,
    ].join(' '),
  idempotency_mismatch: () =>
    [
      `This Idempotency-Key was used for a different request in the last ${IDEMPOTENCY_HOURS} hours.`,
      'Use a new one for this request.',
    ].join(' '),
  run_not_found: () => 'There is no such run.',

  webhook_not_found: () => 'This run has no webhook_url.',
  webhook_pending: () => 'The webhook of this run is already being delivered.',

  upload_not_found: () => 'The upload does not exist or was deleted.',
  upload_not_sent: () =>
    'No file has arrived yet, or it was refused and deleted. Send one with PUT to the presigned_url.',
  too_many_uploads: ({ limit }) =>
    `The account already has ${limit} uploads, which is the limit. Delete some or wait until they expire.`,
  declared_type_not_accepted: ({ declared }) =>
    `The declared type ${JSON.stringify(declared)} is not accepted. Accepted types: ${acceptedTypes.join(', ')}.`,
  declared_type_unspecific: ({ declared }) =>
    `${declared} does not identify the type of the file. Declare its specific type.`,

  file_not_found: () => 'The file does not exist or was deleted.',

  put_address_invalid: () => `This service did not issue the URL. ${REQUEST_NEW_URL}`,
  put_address_expired: () => `The URL has expired. ${REQUEST_NEW_URL}`,
  put_address_withdrawn: () => `The upload was deleted, or its API key was revoked. ${REQUEST_NEW_URL}`,

  family_not_found: () => 'There is no such family.',
} satisfies RefusalWords

const grantCommand = (account: string) =>
  `npm run -s tollgate -- credits grant ${account} 1000 --reason 'to try the service'`

/** The abilities of keys by scope, and what has the others. */
const abilities: Record<KeyScope, string> = {
  full: 'do everything except manage keys. For that, use a key with the scope "keys", or sign in',
  read: [
    'only read: send GET requests, except for secrets and notices, make dry runs, and call read-only tools.',
    'For the rest, use a key with the scope "full", and for keys one with the scope "keys"',
  ].join(' '),
  keys: [
    'only manage keys, with GET and POST /v1/keys and DELETE /v1/keys/{id}.',
    'For the rest, use a key with the scope "full"',
  ].join(' '),
}
