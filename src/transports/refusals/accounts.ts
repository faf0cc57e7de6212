import { SMALL_RUN_BYTES } from '../../domain/account/limits.ts'
import type { FreeEvents } from '../../domain/account/state.ts'
import { plural } from '../../domain/plural.ts'
import type { AccountRefusals } from '../../domain/refusal.ts'
import { duration, limited } from './phrases.ts'
import type { RefusalTable } from './refusal-table.ts'

export const accounts = {
  account_exists: { api: 'invalid_request', message: () => 'The account already exists.' },
  account_not_found: { api: 'not_found', message: () => 'There is no such account.' },
  account_suspended: {
    api: 'account_suspended',
    message: ({ reason }) =>
      `This account is suspended (${reason}). Contact the operator of the service to have it resumed.`,
  },
  account_already_suspended: {
    api: 'invalid_request',
    message: ({ reason }) =>
      `The account is already suspended (${reason}). To change the reason, resume it and suspend it again.`,
  },
  account_erased: { api: 'account_suspended', message: () => 'The account was erased.' },
  account_has_open_runs: {
    api: 'invalid_request',
    message: ({ openRuns }) =>
      `The account has ${plural(openRuns, 'open run')}. Suspend the account, and try again once its runs have ended.`,
  },
  account_not_suspended: { api: 'invalid_request', message: () => 'The account is not suspended.' },
  too_many_requests: {
    api: 'rate_limited',
    message: ({ of, limit, retryAfterMs }) =>
      [
        `${limited[of]} has sent ${limit} requests within a minute, which is its limit.`,
        `Try again in ${duration(retryAfterMs)}; the header RateLimit of each response says how many are left.`,
      ].join(' '),
  },
  too_many_free_events: {
    api: 'rate_limited',
    message: ({ of, retryAfterMs }) => {
      const { excess, advice } = freeEvents[of]
      return `The account has ${excess} within an hour. Try again in ${duration(retryAfterMs)}. ${advice}`
    },
  },
  notice_not_due: { api: 'invalid_request', message: () => 'No such notice is due.' },
  notice_address_unlinked: {
    api: 'invalid_request',
    message: () =>
      'Notices are only mailed to an address of the account. Add it at /console/identities, or leave it out.',
    details: () => ({ errors: [{ path: '/email_address', message: 'must be an e-mail address of the account' }] }),
  },
} satisfies RefusalTable<AccountRefusals>

/** The excess of the owner, and a remedy. */
const freeEvents: Record<FreeEvents, { excess: string; advice: string }> = {
  changes: {
    excess: 'changed its keys and settings too often',
    advice: 'Keys can be revoked at any time.',
  },
  testRuns: {
    excess: 'sent too much in its test runs',
    advice: 'Upload files and send their URLs instead of data: URLs, shorten the inputs, or use a live key.',
  },
  uploads: {
    excess: 'made too many uploads',
    advice: 'Use an upload again instead of sending its file again. Uploads can be deleted at any time.',
  },
  failedRuns: {
    excess: 'sent too much in runs that were cancelled or failed because of their input',
    advice: `Runs of up to ${SMALL_RUN_BYTES / 1024} KB are still accepted: upload files and send their URLs.`,
  },
}
