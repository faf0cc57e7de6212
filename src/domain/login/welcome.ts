import type { Identity } from '../../../schemas/identity.ts'
import type { WelcomeWithheld } from '../../../schemas/registration-events.ts'

/** The welcome credits of an account: none, and why, if they are withheld. */
export interface Welcome {
  welcomeMicros: number
  withheld?: WelcomeWithheld | undefined
}

interface MailProvider {
  domains: RegExp
  /** The canonical domain, where all of them have the same mailboxes. */
  domain?: string
  /** The name of a mailbox by one of its spellings. */
  mailbox?(spelling: string): string
}

const PROVIDERS: MailProvider[] = [
  // https://support.google.com/mail/answer/7436150
  { domains: /^g(oogle)?mail\.com$/, domain: 'gmail.com', mailbox: spelling => spelling.replaceAll('.', '') },
  {
    domains: /^(proton\.me|protonmail\.(com|ch)|pm\.me)$/,
    domain: 'proton.me',
    mailbox: spelling => spelling.replaceAll(/[._-]/g, ''),
  },
  { domains: /^(icloud|me|mac)\.com$/, domain: 'icloud.com' },
  // https://yandex.com/support/id/authorization/email.html
  {
    domains: /^(yandex\.(ru|com|by|kz|ua|com\.tr)|ya\.ru|narod\.ru)$/,
    domain: 'yandex.ru',
    mailbox: spelling => spelling.replaceAll('.', '-'),
  },
  // Disposable addresses are NAME-KEYWORD, and no other has a hyphen.
  {
    domains: /^(yahoo(\.com?)?\.[a-z]{2,3}|ymail\.com|rocketmail\.com)$/,
    mailbox: spelling => spelling.replace(/-.*$/, ''),
  },
]

/** ANYTHING@NAME.fastmail.com reaches NAME@fastmail.com. */
const SUBDOMAIN = /^([^.]+)\.(fastmail\.(?:com|fm))$/

/**
 * The identity that gets welcome credits once for all of its spellings. An address loses the tag after a `+`, and the
 * characters that its provider ignores. Only the welcome depends on this guess, because only a mail server knows which
 * addresses reach a mailbox.
 */
export const canonicalOf = (identity: Identity): Identity => {
  if (identity.kind !== 'email') return identity
  const [spelling = '', host = ''] = identity.address.split('@')
  const [, name = spelling, domain = host] = SUBDOMAIN.exec(host) ?? []
  const untagged = name.replace(/\+.*$/, '') || name
  const provider = PROVIDERS.find(({ domains }) => domains.test(domain))
  return { kind: 'email', address: `${provider?.mailbox?.(untagged) || untagged}@${provider?.domain ?? domain}` }
}
