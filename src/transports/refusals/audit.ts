import type { AuditRefusals } from '../../domain/refusal.ts'
import { duration } from './phrases.ts'
import type { RefusalTable } from './refusal-table.ts'

export const audit = {
  auditor_exists: {
    api: 'invalid_request',
    message: ({ name }) => `There already is an auditor ${JSON.stringify(name)} with an active key.`,
  },
  auditor_not_found: { api: 'not_found', message: () => 'There is no such active auditor.' },
  too_many_auditors: {
    api: 'rate_limited',
    message: ({ limit }) => `There already are ${limit} auditors with active keys; revoke one first.`,
  },
  too_many_reads: {
    api: 'rate_limited',
    message: ({ retryAfterMs }) => `The auditor reads too much at once. Try again in ${duration(retryAfterMs)}.`,
  },
  verification_running: {
    api: 'rate_limited',
    message: () => 'Another verification is in progress, and only one runs at a time. Try again later.',
  },

  seal_not_found: {
    api: 'not_found',
    message: ({ number }) =>
      number === undefined
        ? 'The log has no seal yet. Try again later: it is sealed every few minutes.'
        : `There is no seal ${number}.`,
  },
  seals_not_in_order: {
    api: 'invalid_request',
    message: () => 'The first seal must be earlier than the second.',
    details: () => ({ errors: [{ path: '/from', message: 'must be less than to' }] }),
  },
  event_not_found: { api: 'not_found', message: () => 'The account has no such event.' },
  event_not_shown: {
    api: 'forbidden',
    message: () =>
      [
        'The event holds an address that may be a secret, and a proof shows all of the event.',
        'A key with the scope "full" can get it.',
      ].join(' '),
  },
  event_not_sealed: {
    api: 'not_sealed',
    message: () => 'No seal covers the newest event yet. The service seals its log every few minutes: try again soon.',
  },
  too_many_events: {
    api: 'invalid_request',
    message: ({ limit }) =>
      `The account has more than ${limit} events. Ask the operator for the proof, which tollgate audit prove makes.`,
  },
  too_many_proofs: {
    api: 'rate_limited',
    message: () => 'Another proof is being made for the account. Try again when it is done.',
  },

  period_closed: {
    api: 'invalid_request',
    message: ({ period, closedWith, seal }) =>
      `${period} was closed${closedWith === period ? '' : ` together with ${closedWith}`}, with seal ${seal}.`,
  },
  period_not_over: {
    api: 'invalid_request',
    message: ({ period, now }) => `${period} is not over: it is ${now}. A period is a month in UTC.`,
  },
  period_before_log: {
    api: 'invalid_request',
    message: ({ first }) => `The first event of the log is of ${first}, so there is nothing to close before.`,
  },
  period_not_sealed: {
    api: 'not_sealed',
    message: ({ period, waitedMs }) =>
      [
        `The request to close ${period} is recorded, but no process has sealed the log for ${duration(waitedMs)}.`,
        'Start one with the role sealer, see whether it logs that the log could not be sealed, and repeat the command.',
      ].join(' '),
  },
  period_seal_outdated: {
    api: 'invalid_request',
    message: () => 'An earlier month was closed at the same time. Repeat the command.',
  },
} satisfies RefusalTable<AuditRefusals>
