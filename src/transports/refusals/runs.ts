import { IDEMPOTENCY_HOURS } from '../../../schemas/primitives.ts'
import { isFilePlace } from '../../domain/catalog/inputs.ts'
import { fromMicros } from '../../domain/money.ts'
import { plural } from '../../domain/plural.ts'
import type { RunRefusals } from '../../domain/refusal.ts'
import { fileFault } from './files.ts'
import { duration, limited, urlFaults } from './phrases.ts'
import type { RefusalTable } from './refusal-table.ts'

export const runs = {
  input_invalid: {
    api: 'invalid_input',
    message: ({ endpoint }) => `The input does not match the parameters_schema of ${endpoint}.`,
    details: ({ faults }) => ({
      errors: faults.map(({ path, message }) => ({ path: `/input${path}`, message })),
    }),
  },
  input_file_refused: {
    api: 'invalid_input',
    message: ({ parameter, reason }) => `${parameter} cannot be used. ${fileFault(parameter, reason)}`,
    details: ({ parameter, reason }) => ({
      errors: [{ path: `/input/${parameter}`, message: fileFault(parameter, reason) }],
    }),
  },
  long_inputs_at_limit: {
    api: 'rate_limited',
    message: ({ limitBytes }) =>
      `Runs in progress have inputs of ${limitBytes} bytes together, which is the limit. Wait until one has ended.`,
  },
  part_too_large: {
    api: 'invalid_request',
    message: ({ path, limitBytes }) => `${path} is larger than ${limitBytes} bytes.`,
    details: ({ path, limitBytes }) => ({
      errors: [{ path, message: `must be at most ${limitBytes} bytes of JSON` }],
    }),
  },
  address_not_public: {
    api: 'invalid_input',
    message: ({ parameter }) =>
      [
        `${parameter} must have a public host that the operator does not deny:`,
        'the service contacts no local names, no private addresses and no denied ones.',
        'The operator can allow the first two with ALLOW_PRIVATE_WEBHOOKS.',
      ].join(' '),
    details: ({ parameter }) => ({
      errors: [
        {
          path: isFilePlace(parameter) ? `/input/${parameter}` : `/${parameter}`,
          message: 'must have a public host that is not denied',
        },
      ],
    }),
  },
  file_url_invalid: {
    api: 'invalid_input',
    message: ({ parameter, fault }) => `${parameter} ${urlFaults[fault]}.`,
    details: ({ parameter, fault }) => ({ errors: [{ path: `/input/${parameter}`, message: urlFaults[fault] }] }),
  },
  stream_not_offered: {
    api: 'invalid_request',
    message: ({ endpoint }) => `${endpoint} does not stream. Only models with text as output do; leave out stream.`,
    details: () => ({ errors: [{ path: '/stream', message: 'is only for models with text as output' }] }),
  },
  store_not_async: {
    api: 'invalid_request',
    message: ({ endpoint }) =>
      [
        `Nothing of this run would be kept, and the result of ${endpoint} comes after the response.`,
        'Choose a model whose mode is sync.',
      ].join(' '),
    details: () => ({ errors: [{ path: '/model', message: 'must be a model whose mode is sync if nothing is kept' }] }),
  },
  store_without_webhook: {
    api: 'invalid_request',
    message: () => 'Nothing of this run would be kept, so it can have no webhook. Its result is in the response.',
    details: () => ({ errors: [{ path: '/webhook_url', message: 'must be absent if nothing is kept' }] }),
  },
  max_credits_too_fine: {
    api: 'invalid_request',
    message: () => 'max_credits must have at most six decimals, because a microcredit is the smallest amount.',
    details: () => ({ errors: [{ path: '/max_credits', message: 'must have at most six decimals' }] }),
  },
  price_above_limit: {
    api: 'price_above_limit',
    message: ({ requiredMicros, maxMicros }) =>
      [
        `The run can cost ${fromMicros(requiredMicros)} credits, which is more than its max_credits of`,
        `${fromMicros(maxMicros)}. Nothing was charged. Raise max_credits, or choose a cheaper model or input.`,
      ].join(' '),
    details: ({ requiredMicros, maxMicros }) => ({
      required_credits: fromMicros(requiredMicros),
      max_credits: fromMicros(maxMicros),
    }),
  },
  retention_changed: {
    api: 'unavailable',
    message: () => 'The account was just set to keep nothing of its runs. Send the request again; nothing was charged.',
  },
  idempotency_mismatch: {
    api: 'idempotency_mismatch',
    message: () =>
      [
        `This Idempotency-Key was used for a different request in the last ${IDEMPOTENCY_HOURS} hours.`,
        'Use a new one for this request.',
      ].join(' '),
  },

  too_many_test_runs: {
    api: 'rate_limited',
    message: ({ limit, retryAfterMs }) =>
      limit === 0
        ? 'This service has turned test runs off. Use a live key.'
        : [
            `The account has had ${limit} test runs today, which is its limit for a day in UTC.`,
            `Try again in ${duration(retryAfterMs)}, or use a live key.`,
          ].join(' '),
  },
  too_many_failures: {
    api: 'rate_limited',
    message: ({ retryAfterMs }) =>
      [
        'Too many runs of the account were cancelled or failed because of their input.',
        `Correct the inputs, and try again in ${duration(retryAfterMs)}.`,
      ].join(' '),
  },
  too_many_open_runs: {
    api: 'rate_limited',
    message: ({ limit }) =>
      `The account already has ${limit} runs that have not ended, which is the limit. Try again when some have ended.`,
  },
  too_many_runs_in_flight: {
    api: 'rate_limited',
    message: ({ of, limit, retryAfterMs }) =>
      [
        `${limited[of]} already has ${plural(limit, 'run')} in flight, which is its limit.`,
        `Try again in ${duration(retryAfterMs)}, or when some of them have ended.`,
      ].join(' '),
  },
  open_runs_too_large: {
    api: 'rate_limited',
    message: ({ limitBytes }) =>
      `The inputs of the account’s open runs would exceed ${limitBytes} bytes. Try again when some have ended.`,
  },

  run_exists: { api: 'invalid_request', message: () => 'The run already exists.' },
  run_not_found: { api: 'run_not_found', message: () => 'There is no such run.' },
  run_not_open: { api: 'run_ended', message: () => 'The run has already ended.' },
  run_already_started: { api: 'invalid_request', message: () => 'The run has already started.' },
  run_not_started: { api: 'invalid_request', message: () => 'The run has not started yet.' },
  run_already_submitted: { api: 'invalid_request', message: () => 'The run was already submitted to its provider.' },
  run_not_ended: { api: 'webhook_pending', message: () => 'The run has not ended yet.' },
} satisfies RefusalTable<RunRefusals>
