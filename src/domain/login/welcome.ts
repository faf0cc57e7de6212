import type { Identity } from '../../../schemas/identity.ts'
import type { WelcomeWithheld } from '../../../schemas/registration-events.ts'

/** The welcome credits of an account: none, and why, if they are withheld. */
export interface Welcome {
  welcomeMicros: number
  withheld?: WelcomeWithheld | undefined
}

/** Domains of one provider, the first of which stands for all, and what it ignores in the names of mailboxes. */
const PROVIDERS: { domains: string[]; ignored?: RegExp }[] = [
  // https://support.google.com/mail/answer/7436150
  { domains: ['gmail.com', 'googlemail.com'], ignored: /\./g },
  { domains: ['proton.me', 'protonmail.com', 'pm.me'], ignored: /[._-]/g },
  { domains: ['icloud.com', 'me.com', 'mac.com'] },
]

/**
 * The identity that gets welcome credits once for all of its spellings. An address loses the tag after a `+`, and what
 * its provider ignores. Only the welcome follows from it: what reaches a mailbox, only the mailbox's server knows.
 */
export const canonicalOf = (identity: Identity): Identity => {
  if (identity.kind !== 'email') return identity
  const [mailbox = '', domain = ''] = identity.address.split('@')
  const untagged = mailbox.replace(/\+.*$/, '') || mailbox
  const { domains: [first = domain] = [], ignored } = PROVIDERS.find(({ domains }) => domains.includes(domain)) ?? {}
  const plain = ignored ? untagged.replaceAll(ignored, '') || untagged : untagged
  return { kind: 'email', address: `${plain}@${first}` }
}
