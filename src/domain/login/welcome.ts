import type { Identity } from '../../../schemas/identity.ts'
import type { WelcomeWithheld } from '../../../schemas/registration-events.ts'

/** The welcome credits of an account: none, and why, if they are withheld. */
export interface Welcome {
  welcomeMicros: number
  withheld?: WelcomeWithheld | undefined
}

/** The two domains of Google's mail. Its servers ignore dots in the name of a mailbox. */
const GMAIL = new Set(['gmail.com', 'googlemail.com'])

/**
 * The identity that gets welcome credits once for all of its spellings. An address loses the tag after a `+`, and at
 * Google its dots. Only the welcome follows from it: what reaches a mailbox, only the mailbox's server knows.
 */
export const canonicalOf = (identity: Identity): Identity => {
  if (identity.kind !== 'email') return identity
  const [mailbox = '', domain = ''] = identity.address.split('@')
  const untagged = mailbox.replace(/\+.*$/, '') || mailbox
  if (!GMAIL.has(domain)) return { kind: 'email', address: `${untagged}@${domain}` }
  return { kind: 'email', address: `${untagged.replaceAll('.', '') || untagged}@gmail.com` }
}
