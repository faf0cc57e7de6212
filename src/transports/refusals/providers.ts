import type { ProviderRefusals } from '../../domain/refusal.ts'
import type { RefusalTable } from './refusal-table.ts'

export const providers = {
  provider_unknown: {
    api: 'not_found',
    message: ({ provider, known }) => `There is no provider ${provider}; there are ${known.join(', ')}.`,
  },
  sandbox_not_optional: {
    api: 'invalid_request',
    message: () =>
      [
        'The sandbox cannot be disabled: it makes samples only while no provider has a key, for models without a',
        'provider if SANDBOX=fallback is set, and for the test family. Remove SANDBOX=fallback to limit it.',
      ].join(' '),
  },
  endpoint_not_bound: {
    api: 'not_found',
    message: ({ endpoint, known }) =>
      known.length > 0
        ? `${endpoint} is a model. Name one of its endpoints: ${known.join(', ')}.`
        : `No provider is bound to an endpoint ${endpoint}; "tollgate bindings list" shows all.`,
  },
  binding_unknown: {
    api: 'not_found',
    message: ({ endpoint, binding, known }) => `${endpoint} has no binding ${binding}; it has ${known.join(', ')}.`,
  },
  callback_not_expected: { api: 'not_found', message: () => 'No provider sends callbacks to this address.' },
  callback_not_signed: {
    api: 'invalid_request',
    message: () =>
      'The provider has not signed this callback within the last five minutes, or its body was changed on the way.',
  },
} satisfies RefusalTable<ProviderRefusals>
