import type { CodeFault, SignInRefusals } from '../../domain/refusal.ts'
import { duration } from './phrases.ts'
import type { RefusalTable } from './refusal-table.ts'

export const signIn = {
  email_invalid: {
    api: 'invalid_request',
    message: ({ email }) =>
      [
        `${JSON.stringify(email)} is not an e-mail address such as name@example.com.`,
        'Quotes, comments, % and ! are not accepted.',
      ].join(' '),
  },
  identity_taken: {
    api: 'invalid_request',
    message: () => 'This address or Telegram account belongs to another account.',
  },
  too_many_identities: {
    api: 'rate_limited',
    message: ({ limit }) => `The account already has ${limit} ways to sign in, which is the limit.`,
  },
  session_ended: {
    api: 'invalid_api_key',
    message: () => 'You are not signed in, or your session has ended. Sign in again.',
  },
  fresh_code_required: {
    api: 'forbidden',
    message: () => 'This needs a code that you entered within the last hour. Enter another one at /console/confirm.',
  },
  no_address: {
    api: 'invalid_request',
    message: () => 'Your account has no e-mail address for a code. Sign in again instead.',
  },
  too_many_codes: {
    api: 'rate_limited',
    message: ({ retryAfterMs }) =>
      `Too many codes were requested for this address. Try again in ${duration(retryAfterMs)}.`,
  },
  too_many_sign_ins: {
    api: 'rate_limited',
    message: ({ retryAfterMs }) =>
      `There are too many attempts to sign in at the moment. Try again in ${duration(retryAfterMs)}.`,
  },
  code_not_valid: { api: 'invalid_request', message: ({ reason }) => `${CODE_FAULTS[reason]} Request a new one.` },
  code_wrong: {
    api: 'invalid_request',
    message: ({ triesLeft, codes }) => {
      const fault = codes === 1 ? 'This is not the code' : 'This is neither of the last two codes'
      if (triesLeft === undefined) return `${fault} that this browser requested, or it is no longer valid. ${BUSY}`
      const rest =
        triesLeft === 0 ? 'Request a new one.' : `You have ${triesLeft} more ${triesLeft === 1 ? 'try' : 'tries'}.`
      return `${fault} that this browser requested. ${rest}`
    },
  },
  telegram_not_offered: {
    api: 'not_found',
    message: () => 'This service does not offer sign-in with Telegram.',
  },
  telegram_not_confirmed: {
    api: 'invalid_request',
    message: () => 'Telegram did not confirm who you are. Try again.',
  },
  registration_closed: {
    api: 'forbidden',
    message: ({ mode }) =>
      mode === 'closed'
        ? 'This service opens no new accounts.'
        : 'This service opens accounts only for certain addresses or by invitation. Ask its operator.',
  },
  registrations_full: {
    api: 'rate_limited',
    message: ({ retryAfterMs, network }) => {
      const whose = network ? ' for your network' : ''
      return `This service opens no more accounts${whose} today. Try again in ${duration(retryAfterMs)}.`
    },
  },
} satisfies RefusalTable<SignInRefusals>

const BUSY = 'At the moment, codes go only to people who have signed in before. Request another in a minute.'

const CODE_FAULTS: Record<CodeFault, string> = {
  unknown: 'This code is not valid here.',
  used: 'This code was used already.',
  tries: 'This code was tried too often.',
  expired: 'This code has expired.',
}
