import type { EmailIdentity, Identity, TelegramIdentity } from '../../../schemas/identity.ts'
import { sha256 } from '../digest.ts'

/** The longest address that SMTP can carry (RFC 5321, erratum 1690). */
const MAX_ADDRESS_LENGTH = 254

/**
 * What a mailbox is named without quotes or comments: those have several spellings for one mailbox (RFC 5322, section
 * 3.2.4). Mail servers may take `%` and `!` for a route to another host, which would get the codes.
 */
const LOCAL_PART = /^[\p{L}\p{M}\p{N}.#$&'*+/=?^_`{|}~-]+$/u

/** Characters that end or encode parts of URLs would be dropped or decoded below. */
const DOMAIN = /^[^\s\p{C}@/?#\\:%]+$/u

/** The last label of a domain is no number (RFC 3696, section 2), so this is no IP address. */
const ASCII_DOMAIN = /^(?:[a-z0-9_-]+\.)*(?!\d+$)[a-z0-9_-]+$/

/**
 * The identity of an e-mail address; undefined if it is none. Spellings that reach the same mailbox give the same
 * identity: neither case, surrounding blanks, the encoding of letters nor that of the domain matters.
 */
export const emailIdentity = (text: string): EmailIdentity | undefined => {
  const [mailbox = '', given = '', ...rest] = text.trim().toLowerCase().normalize('NFC').split('@')
  if (!LOCAL_PART.test(mailbox) || !DOMAIN.test(given) || rest.length > 0) return undefined
  const url = `http://${given}`
  const domain = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : ''
  const address = `${mailbox}@${domain}`
  return ASCII_DOMAIN.test(domain) && address.length <= MAX_ADDRESS_LENGTH ? { kind: 'email', address } : undefined
}

/** The identity that an account was opened with. */
export const openingIdentity = ({ email = '', identity }: OpenedWith): Identity =>
  identity ?? { kind: 'email', address: email.toLowerCase() }

interface OpenedWith {
  email?: string
  identity?: TelegramIdentity
}

/** The owner of an account, as people read it. */
export const ownerName = (opening: OpenedWith): string => opening.email ?? identityName(openingIdentity(opening))

/** The identity as people read it. */
export const identityName = (identity: Identity): string =>
  identity.kind === 'email' ? identity.address : `Telegram: ${identity.name ?? identity.subject}`

/**
 * The digest by which earlier versions named the stream of the identity. It has no key, so whoever guesses an address
 * recognises it.
 */
export const unkeyedLoginOf = (identity: Identity): string => sha256(identityText(identity))

/** Whether both are the same person's same address or account. What a messenger shows as its name does not matter. */
export const isSameIdentity = (one: Identity, other: Identity): boolean => identityText(one) === identityText(other)

/** The identity as a text that no other identity has. */
export const identityText = (identity: Identity): string =>
  identity.kind === 'email' ? `email:${identity.address}` : `telegram:${identity.subject}`
